#include "run/inputs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/subject.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "files/conflicts.hpp"
#include "io/fd.hpp"
#include "io/fd_source_sink.hpp"
#include "run/endpoints.hpp"
#include "run/file_tree.hpp"
#include "run/work_queue.hpp"

namespace gpuaes {
namespace {

// Small inputs mostly wait for the disk, so there may be more threads than CPUs.
constexpr std::size_t max_threads_for_small_inputs = 16;

// Up to 9 descriptors to replace an output while reading an input that is not cached. Memory: 2 MiB for the
// stack and malloc(), the rest for a ring.
constexpr ThreadNeeds small_input_needs{.descriptors = 9, .bytes = 10 << 20};

// Calls `action`. If the system lacks a resource, that becomes an error of this input.
void limit_lack_of_resources(const std::function<void()>& action) try {
  action();
} catch (const std::bad_alloc&) {
  throw IoError("out of memory", Advice::raise_memory_limit);
} catch (const std::system_error& error) {
  throw missing_resource(error.code());
}

// The inputs of a request, in order.
class InputReader {
 public:
  InputReader(const InputsRequest& request, const InputRun& run, const Context& context)
      : request_(request),
        tree_(request.opens, [&run](const std::string& name) { return run.skips_directory(name); }) {
    if (!request.list) return;
    list_.emplace(request.list->open(context.cancel));
    note_if_terminal(*list_, context.messages);
  }

  std::optional<InputRequest> next() {
    if (list_) return next_in_list();
    for (;;) {
      if (std::optional<std::string> file = tree_.next()) {
        empty_ = nullptr;
        return found(std::move(*file));
      }
      if (empty_ != nullptr) return *std::exchange(empty_, nullptr);
      if (count_ == request_.named.size()) return std::nullopt;
      const InputRequest& named = request_.named[count_++];
      if (!named.is_tree) return named;
      tree_.enter(named.file.name);
      empty_ = &named;
    }
  }

  // Whether the last name was found in a list or a directory.
  bool has_found() const { return list_ || tree_.is_open(); }

  const FileTree& tree() const { return tree_; }

  // IoError if the last input is a directory without files, or its name is from the list and cannot be a file
  // name. If it is a secret, the input is named by its place in the list.
  void check(InputRequest& input) const {
    const std::string& name = input.file.name;
    if (input.is_tree) throw IoError(fmt::format("{} contains no files", name));
    if (!list_) return;
    if (name.size() > max_name)
      throw IoError(fmt::format("name {} in {} is longer than {} bytes", count_, list_->name(), max_name),
                    hint());
    const bool exists = access(name.c_str(), F_OK) == 0;
    if (count_ == 1 && !exists) refuse_byte_order_mark(name, list_->name());
    if (name.find('\0') != std::string::npos)
      throw IoError(fmt::format("line {} of {} contains a null byte", count_, list_->name()), hint());
    if (exists) return;
    if (request_.separator == '\n' && name.ends_with('\r'))
      throw IoError(fmt::format("line {} of {} ends with a carriage return", count_, list_->name()),
                    "Windows programs write one before each newline; remove them with tr -d '\\r'");
    if (request_.separator == '\0' && name.ends_with('\n'))
      throw IoError(fmt::format("name {} in {} ends with a newline", count_, list_->name()), hint());
    try {
      refuse_secret_as_name(name);
    } catch (const UsageError& error) {
      input.file.name = fmt::format("name {} in {}", count_, list_->name());
      throw IoError(fmt::format("{}: {}", input.file.name, error.what()));
    }
  }

 private:
  static constexpr std::size_t max_name = PATH_MAX - 1;

  // In a list, - is the name of a file.
  std::optional<InputRequest> next_in_list() {
    std::string name;
    do {
      if (text_.empty() && !read()) return std::nullopt;
      name = take_name();
    } while (name.empty());
    return found(name == standard_name ? "./-" : std::move(name));
  }

  static InputRequest found(std::string name) {
    InputRequest input{.only_file = true};
    input.file.name = std::move(name);
    return input;
  }

  // The text up to the next separator or the end; may be empty. If it is too long, only its beginning.
  std::string take_name() {
    std::string name;
    for (bool ended = false; !ended && (!text_.empty() || read());) {
      const std::size_t end = text_.find(request_.separator);
      ended = end != std::string_view::npos;
      name += text_.substr(0, end);
      name.resize(std::min(name.size(), max_name + 1));
      text_.remove_prefix(ended ? end + 1 : text_.size());
    }
    ++count_;
    return name;
  }

  // Reads more of the list. False at the end of the list.
  bool read() {
    text_ = as_text(std::span(bytes_).first(list_->read(bytes_)));
    return !text_.empty();
  }

  const char* hint() const {
    return request_.separator == '\n' ? "if names end with null bytes, use --null"
                                      : "if names end with newlines, omit --null";
  }

  const InputsRequest& request_;
  FileTree tree_;  // below the last directory that was named
  std::optional<FdSource> list_;
  std::array<std::byte, 64 << 10> bytes_{};  // of the list
  std::string_view text_;                    // of the list, after the last name
  std::size_t count_ = 0;                    // names given so far
  const InputRequest* empty_ = nullptr;      // the last directory, while nothing was found in it
};

// Does the work for inputs, and counts them.
class InputLoop {
 public:
  InputLoop(const InputsRequest& inputs, const Context& context, InputRun& run)
      : rules(run.rules()),
        inputs_(inputs),
        several_(inputs.several() || !rules.verb.empty()),
        context_(context),
        run_(run) {}

  const InputRules rules;

  // From any thread, unless `alone`.
  void run(const InputRequest& input, bool alone) { run(input, alone, false); }

  // The same, but if the system lacks a resource that other inputs may have, the input is left for later.
  void try_to_run(const InputRequest& input) { run(input, false, true); }

  bool has_left() {
    const std::lock_guard lock(mutex_);
    return !left_.empty();
  }

  // Returns what try_to_run() has left since the last call.
  std::vector<InputRequest> take_left() {
    const std::lock_guard lock(mutex_);
    return std::exchange(left_, {});
  }

  // Whether the input, whose name was found, is to be run. Otherwise, it is left out, or this is its error.
  bool accepts(InputRequest& input, const InputReader& reader) {
    try {
      reader.check(input);
      return !run_.leaves_out(input);
    } catch (const Error& error) {
      print(fail(input, error));
      return false;
    }
  }

  // "2,998 of 3,000 files encrypted, 2 failed".
  void note_summary(std::string text = {}) const {
    if (rules.verb.empty()) return;
    const auto& [done, skipped, failed] = counts_;
    const std::uint64_t all = done + skipped + failed;
    text += with_commas(done);
    if (done < all) text += fmt::format(" of {}", with_commas(all));
    text += fmt::format(" file{} {}", all == 1 ? "" : "s", rules.verb);
    if (skipped > 0) text += fmt::format(", {} skipped", with_commas(skipped));
    if (failed > 0) text += fmt::format(", {} failed", with_commas(failed));
    context_.messages.note(text);
  }

  void finish() {
    if (output_) output_->finish();
    try {
      run_.at_end(counts_);
      refuse_empty_list();
    } catch (const Error& error) {
      context_.messages.error(error);
      worst_ = std::max(worst_, Exit::io);
    }
    note_summary();
    if (worst_ != Exit::ok) throw Failed{worst_};
  }

 private:
  // Like a directory without files: a disk that is not mounted must not look like a complete backup.
  void refuse_empty_list() const {
    if (inputs_.list && counts_.done + counts_.skipped + counts_.failed == 0)
      throw IoError(fmt::format("{} names no files", inputs_.list->shown()));
  }

  void run(const InputRequest& input, bool alone, bool may_leave) {
    const std::string shown = several_ || input.is_named() ? input.file.shown() : "";
    InputResult result;
    try {
      name_input(shown, [&] {
        limit_lack_of_resources([&] {
          const Messages about = context_.messages.for_input(shown, several_);
          result = run_.run(input, {about, context_.cancel}, alone);
        });
      });
      const std::lock_guard lock(mutex_);
      ++(result.skipped ? counts_.skipped : counts_.done);
    } catch (const Error& error) {
      if (!several_ || (error.exit() == Exit::usage && is_first())) throw;
      if (alone) context_.cancel.withdraw_failure();
      if (may_leave && error.lacks_resource()) return leave(input);
      if (names_input(error))
        result.text = fail(input, error);
      else
        result.text = fail(input, IoError(fmt::format("{}: {}", shown, error.what()), error.hint()));
    }
    print(result.text);
  }

  // Errors that concern the options or the system do not.
  static bool names_input(const Error& error) {
    return error.exit() != Exit::usage &&
           (!error.lacks_resource() || error.hint().advice == Advice::raise_file_limit);
  }

  void leave(const InputRequest& input) {
    const std::lock_guard lock(mutex_);
    left_.push_back(input);
  }

  // Then a UsageError most likely concerns all inputs.
  bool is_first() {
    const std::lock_guard lock(mutex_);
    return counts_.done + counts_.skipped + counts_.failed == 0;
  }

  // Exit::usage is only for errors before the first input is done. Returns text for standard output.
  std::string fail(const InputRequest& input, const Error& error) {
    context_.messages.error(error);
    const std::lock_guard lock(mutex_);
    ++counts_.failed;
    worst_ = std::max(worst_, error.exit() == Exit::usage ? Exit::io : error.exit());
    return run_.describe_failure(input, error);
  }

  void print(const std::string& text) {
    if (text.empty()) return;
    const std::lock_guard lock(mutex_);
    if (!output_) output_ = open_standard_sink(STDOUT_FILENO, context_.cancel);
    output_->write(std::as_bytes(std::span(text)));
  }

  const InputsRequest& inputs_;
  const bool several_;
  const Context context_;
  InputRun& run_;

  std::mutex mutex_;                // guards the members below
  std::unique_ptr<FdSink> output_;  // opened only for text, since it may be the output of the run
  InputCounts counts_;
  Exit worst_ = Exit::ok;
  std::vector<InputRequest> left_;
};

// Runs small inputs side by side. Those that lack a resource are run again, one at a time, after the others
// have given up theirs; then fewer run side by side.
class SmallInputs {
 public:
  explicit SmallInputs(InputLoop& loop) : loop_(loop) {}

  void add(const InputRequest& input) {
    if (loop_.has_left()) wait();
    if (threads_ == 0) {  // memory is measured after the first input
      loop_.run(input, false);
      threads_ = threads_for(small_input_needs, max_threads_for_small_inputs, loop_.rules.extra_bytes);
    } else if (threads_ == 1) {
      loop_.run(input, false);
    } else {
      if (!queue_) queue_.emplace(threads_, [this](const InputRequest& each) { loop_.try_to_run(each); });
      queue_->add(input);
    }
  }

  void wait() {
    if (!queue_) return;
    queue_->wait();
    const std::vector<InputRequest> left = loop_.take_left();
    if (left.empty()) return;
    queue_.reset();
    threads_ /= 2;
    for (const InputRequest& input : left) loop_.run(input, false);
  }

 private:
  InputLoop& loop_;
  std::size_t threads_ = 0;  // unknown before the first input
  std::optional<WorkQueue<InputRequest>> queue_;
};

// Whether the input is a regular file that is too small to keep several lanes busy for long.
bool is_small_file(const InputRequest& input) {
  constexpr off_t large_bytes = 64 << 20;
  const std::optional<struct stat> status = input.file.status();
  return status && S_ISREG(status->st_mode) && status->st_size < large_bytes;
}

// Runs the small inputs side by side, and each of the others alone.
void run_inputs(InputReader& reader, InputLoop& loop) {
  const InputRules& rules = loop.rules;
  std::optional<Progress::Total> total;
  if (rules.progress != nullptr) total.emplace(*rules.progress);
  SmallInputs small(loop);
  while (std::optional<InputRequest> input = reader.next()) {
    if ((reader.has_found() || input->is_tree) && !loop.accepts(*input, reader)) continue;
    input->only_file |= rules.only_files;
    if (rules.side_by_side && is_small_file(*input)) {
      small.add(*input);
    } else {
      small.wait();
      loop.run(*input, true);
    }
  }
  small.wait();
}

void note_skipped(const FileTree& tree, const Messages& messages) {
  const std::uint64_t count = tree.skipped();
  if (count > 0)
    messages.note(fmt::format("skipped {} {} below directories, the first of them {}", with_commas(count),
                              count == 1 ? "link or special file" : "links or special files",
                              tree.first_skipped()));
}

}  // namespace

void for_each_input(const InputsRequest& inputs, const Context& context, InputRun& run) {
  InputReader reader(inputs, run, context);
  InputLoop loop(inputs, context, run);
  try {
    run_inputs(reader, loop);
  } catch (const Cancelled&) {
    loop.note_summary("interrupted; ");
    throw;
  }
  note_skipped(reader.tree(), context.messages);
  loop.finish();
}

}  // namespace gpuaes
