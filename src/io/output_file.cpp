#include "io/output_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/subject.hpp"
#include "base/unicode.hpp"
#include "io/access.hpp"
#include "io/fd_source_sink.hpp"
#include "io/output_data.hpp"

namespace gpuaes {
namespace {

TempFile::Rules temp_rules(const SinkRules& rules) {
  TempFile::Rules temp = rules.temp;
  // Losing the work at the end costs much more than trying names at the beginning.
  temp.try_naming = rules.bytes.value_or(large_output) >= large_output;
  return temp;
}

OutputData::Rules data_rules(const SinkRules& rules) {
  return {.sparse = rules.sparse, .bytes = rules.bytes.value_or(0), .direct_from = rules.direct_from};
}

class OutputFile : public Sink {
 public:
  OutputFile(const OutputTarget& target, const SinkRules& rules, Cancel& cancel)
      : target_(target),
        rules_(rules),
        cancel_(cancel),
        file_(std::make_unique<TempFile>(target_, temp_rules(rules))),
        data_(file_->take_fd(), target_.name, data_rules(rules), cancel) {}

  void expect(std::uint64_t size) override { data_.expect(size); }
  bool limited_by_disk() const override { return data_.limited_by_disk(); }
  std::optional<std::size_t> place_in_page() const override { return data_.place_in_page(); }
  void write(std::span<const std::byte> bytes) override { data_.write(bytes); }
  void overwrite(std::uint64_t offset, std::span<const std::byte> bytes) override {
    data_.overwrite(offset, bytes);
  }

  // sync_data() in tests/models/output.pml
  void finish() override {
    data_.end();
    if (rules_.complete) rules_.complete(fd());
    // The sync must include the access, so it is set first. It is set again afterward, because the access of
    // the old file may change during a long sync.
    if (rules_.durable) {
      or_keep([&] { set_access(*file_, fd()); });
      data_.sync();
    }
    bool changed = false;
    or_keep([&] { changed = set_access(*file_, fd()); });
    if (rules_.durable && changed) data_.sync();
    warn_of_lost_access();
    data_.finish();
  }

  // give_name() in tests/models/output.pml
  void publish(const std::function<void()>& last_step) override {
    cancel_.check();  // fsync() is mostly uninterruptible
    if (rules_.check) rules_.check();
    or_keep([&] {
      last_step();
      give_name();
    });
    if (rules_.durable && rules_.durable_name) file_->sync_directory();
  }

 private:
  int fd() const { return data_.fd().get(); }

  // All data was written, so a failure of `step` does not mean that the output is bad.
  void or_keep(const std::function<void()>& step) {
    if (!rules_.keep) return step();
    try {
      step();
    } catch (const FileExists&) {  // another attempt has finished
      throw;
    } catch (const IoError& error) {
      throw_kept(error.what());
    } catch (const std::bad_alloc&) {
      throw_kept("out of memory");
    }
  }

  // "keeps" in tests/models/output.pml
  [[noreturn]] void throw_kept(const std::string& failure) {
    if (fd() >= 0) data_.sync();
    const std::optional<std::string> kept = file_->keep(cancel_);
    throw IoError(failure, kept ? fmt::format("the complete output is in {}", *kept)
                                : "the complete output could not be kept");
  }

  void give_name() {
    try {
      file_->publish();
    } catch (const FileExists&) {
      throw;
    } catch (const IoError&) {
      Fd nameless = file_->reopen();
      if (nameless.get() < 0 || !copy_to_named_file(std::move(nameless))) throw;
      file_->publish();
    }
  }

  // Links may be forbidden, for example by Landlock. Then only a file that always had a name can be renamed.
  bool copy_to_named_file(Fd nameless) try {
    TempFile::Rules rules = rules_.temp;
    rules.nameless = false;
    rules.try_naming = true;
    auto named = std::make_unique<TempFile>(target_, rules);
    copy_file(std::move(nameless), named->take_fd(), target_.name, cancel_, [&](int fd) {
      if (rules_.complete) rules_.complete(fd);
      set_access(*named, fd);
      warn_of_lost_access();
    });
    file_ = std::move(named);
    return true;
  } catch (const FileExists&) {
    throw;
  } catch (const IoError&) {
    return false;
  }

  // Gives the output the current access of the file that it replaces, or that of a new file. Returns whether
  // this changed it.
  bool set_access(const TempFile& file, int fd) {
    lost_.clear();
    const Fd old = file.open_old();
    if (old.get() < 0 && has_mode(fd, file.new_mode())) return false;
    const Access before = access_of(fd);
    if (old.get() >= 0)
      lost_ = keep_access(fd, old.get(), rules_.temp.mode ? std::optional(file.new_mode()) : std::nullopt,
                          target_.name);
    else if (!set_mode(fd, file.new_mode(), target_.name))
      lost_.emplace_back("mode");
    return access_of(fd) != before;
  }

  void warn_of_lost_access() const {
    if (!lost_.empty() && rules_.warn)
      rules_.warn(fmt::format("could not preserve the {} of {}; no additional access was granted",
                              fmt::join(lost_, ", "), target_.name));
  }

  const OutputTarget target_;
  const SinkRules rules_;
  Cancel& cancel_;
  std::unique_ptr<TempFile> file_;
  OutputData data_;                // closed before the file is removed
  std::vector<std::string> lost_;  // the properties of the old file that the output could not get
};

// Keeps binary plaintext off a terminal: passes text on to `sink`. UsageError if a piece is not text; none of
// that piece is passed on.
class TextSink : public SinkWrapper {
 public:
  using SinkWrapper::SinkWrapper;

  void write(std::span<const std::byte> bytes) override {
    if (!std::ranges::all_of(as_text(bytes), [this](char c) { return check_.take(c); }))
      throw UsageError("refusing to write binary plaintext to a terminal", Advice::redirect_output);
    inner_.write(bytes);
  }

 private:
  TerminalTextCheck check_;
};

std::unique_ptr<Sink> open_target(const OutputTarget& target, const SinkRules& rules, Cancel& cancel) {
  using Terminal = SinkRules::Terminal;
  if (target.error) throw IoError(*target.error);
  if (rules.temp.if_exists == TempFile::IfExists::refuse && target.status) throw file_exists(target.name);
  if (!is_written_in_place(target)) return std::make_unique<OutputFile>(target, rules, cancel);
  Fd fd = open_in_place(target, cancel);
  const Terminal wanted = isatty(fd.get()) != 0 ? rules.terminal : Terminal::everything;
  if (wanted == Terminal::nothing)
    throw UsageError("refusing to write ciphertext to a terminal", Advice::redirect_output);
  auto sink = std::make_unique<FdSink>(std::move(fd), target.name, cancel);
  if (wanted == Terminal::text) return std::make_unique<TextSink>(std::move(sink));
  return sink;
}

}  // namespace

std::unique_ptr<Sink> open_sink(const OutputTarget& target, const SinkRules& rules, Cancel& cancel) {
  return name_subject(target.option, [&] { return open_target(target, rules, cancel); });
}

}  // namespace gpuaes
