#include "run/many_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "files/same_file.hpp"
#include "format/format.hpp"
#include "format/header_reader.hpp"
#include "io/armor.hpp"
#include "io/naming.hpp"
#include "io/output_directory.hpp"
#include "io/temporary_name.hpp"
#include "run/endpoints.hpp"
#include "run/filter.hpp"
#include "run/info.hpp"
#include "run/inputs.hpp"
#include "run/output_names.hpp"
#include "secrets/secrets.hpp"

namespace gpuaes {
namespace {

// The time of an output whose input changed while it was read. It is that of no input: times before 1980 are
// treated as unknown, and FAT stores them as 1980-01-01.
constexpr timespec no_version{};
constexpr std::time_t first_version = 315'619'200;  // 1980-01-02

constexpr std::time_t max_time_unit = 2;  // of modification times, in seconds: FAT

timespec now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return time;
}

// Without a symbolic link as its last component.
std::string without_link(const std::string& file) {
  std::error_code error;
  const std::filesystem::path found =
      std::filesystem::is_symlink(file, error) ? canonical_path(file) : std::filesystem::path();
  return found.empty() ? file : found.string();
}

class DirectoryRun : public InputRun {
 public:
  DirectoryRun(const FilterRequest& request, Progress& progress, const Context& context)
      : request_(request),
        progress_(progress),
        context_(context),
        filter_(request, progress, context),
        ending_(request.stream.decrypt ? "" : fmt::format(".{}", format_to_write().name)),
        names_(ending_),
        directory_(request.output.directory->name) {
    const NamedInputs named = files_of(request.secrets, request.stream, request.inputs);
    for (const NamedInput& each : named.list())
      each.file.is_standard() ? inputs_.add(STDIN_FILENO) : inputs_.add(AT_FDCWD, each.file.name);
    for (const InputRequest& input : request.inputs.named) check_named(input);
    if (request.reports.stats) {
      reports_.stats = find_target(request.reports.stats);
      refuse_output_conflicts(named, reports_);
    }
    stats_ = open_report(reports_.stats, context_);
    request.output.directory->in_context([this] { directory_.make(); });
  }

  InputRules rules() const override {
    return {.only_files = true,
            .side_by_side = !filter_.keyring().has_plugin(),
            .extra_bytes = derivation_bytes(filter_.keyring()),
            .verb = request_.stream.decrypt ? "decrypted" : "encrypted",
            .progress = &progress_};
  }

  bool leaves_out(const InputRequest& input) override {
    const bool left_out = is_temporary_name(std::filesystem::path(input.file.name).filename().string()) ||
                          is_earlier_output(without_link(input.file.name));
    if (!left_out)
      names_.add(input.file.name);
    else if (left_out_++ == 0)
      first_left_out_ = input.file.name;
    return left_out;
  }

  bool skips_directory(const std::string& directory) const override {
    const std::optional<struct stat> found = status_of(directory);
    struct stat own {};
    return found && fstat(directory_.descriptor(), &own) == 0 && is_same_inode(*found, own);
  }

  InputResult run(const InputRequest& input, const Context& context, bool alone) override {
    InputFile file = open_input_file(input, request_.stream.decrypt, context.cancel);
    const struct stat before = file.source.status();
    refuse_secret_as_input(input.file, before, files_of(request_.secrets, request_.stream));
    if (outputs_.contains(file.source.descriptor()))
      throw IoError(fmt::format("{} is also the output of another input", input.file.name));
    inputs_.add(file.source.descriptor());
    const std::string path = names_.path_for(input.file.name);
    const OutputDirectory::Place place = directory_.find(path);
    claim(input, path, place);
    if (request_.output.skip_existing) {
      if (is_up_to_date(place, file)) return {.skipped = true};
      refuse_newer(place.target, input, before);
    }
    if (place.target.file) refuse_to_replace(input, path, place.target);
    // After `place`, whose folder must be open while there is a sink.
    Endpoints endpoints{.source = std::move(file.source), .directory = std::move(file.directory)};
    endpoints.output = open_sink(place.target, rules_for(endpoints, context.messages), context.cancel);
    filter_.run(input, endpoints, {.totals = &totals_}, context, alone);
    return {};
  }

  void at_end(const InputCounts& counts) override {
    directory_.sync();
    if (stats_) write_stats(counts);
    if (left_out_ == 0) return;
    const std::string text =
        fmt::format("skipped {}, the first of them {}: outputs in {}, or temporary files",
                    counted(left_out_, "file"), first_left_out_, request_.output.directory->name);
    if (counts.done + counts.skipped + counts.failed == 0) throw IoError(text + "; there are no others");
    context_.messages.note(text);
  }

 private:
  const Format& format_to_write() const {
    const Format* const named = request_.stream.format.named;
    return named != nullptr ? *named : gpuaes::format_to_write(filter_.keyring());
  }

  // UsageError if an output would replace an input, or the outputs below a directory have no place. A wrong
  // ending is an error only of that input, and is reported in its turn.
  void check_named(const InputRequest& input) {
    if (input.is_tree) return OutputNames::check(input.file.name);
    std::string path;
    try {
      path = names_.add(input.file.name);
    } catch (const IoError&) {
      return;
    }
    if (directory_.descriptor() >= 0 && inputs_.contains(directory_.descriptor(), path, AT_SYMLINK_NOFOLLOW))
      throw UsageError(would_replace(input, path));
  }

  void write_stats(const InputCounts& counts) {
    const OutputTarget& target = *reports_.stats;
    for (const FileSet* const others : {&inputs_, &outputs_})
      if (others->contains(target.directory, target.path))
        throw IoError(
            fmt::format("{}: {} is also an input, or the output of one", target.option, target.name));
    totals_.write(*stats_, counts);
  }

  static std::string would_replace(const InputRequest& input, const std::string& path) {
    return fmt::format("the output for {} would replace {}, which is another file of this run",
                       input.file.name, path);
  }

  // IoError if another input has the same output.
  void claim(const InputRequest& input, const std::string& path, const OutputDirectory::Place& place) {
    struct stat folder {};
    if (fstat(place.folder.get(), &folder) != 0) throw io_error("cannot stat", place.target.name, errno);
    if (!names_.claim(folder, place.target.path.string(), input.file.name))
      throw IoError(fmt::format("{} and another input have the same output, {}", input.file.name, path));
  }

  // IoError if the file there is one that this run reads. The list may still contain it: next to its input,
  // an encrypted output replaces only an encrypted file, and a decrypted one only what is not named like one.
  void refuse_to_replace(const InputRequest& input, const std::string& path,
                         const OutputTarget& there) const {
    if (inputs_.contains(there.file->get())) throw IoError(would_replace(input, path));
    if (!request_.inputs.finds_names() || !is_output_next_to(input.file.name)) return;
    const bool replaces = ending_.empty() ? !OutputNames::has_ending(path)
                                          : there.status->st_size == 0 || begins_like_output(there);
    if (!replaces)
      throw IoError(fmt::format("{} is {} encrypted file, so the output for {} does not replace it",
                                there.name, ending_.empty() ? "named like an" : "not an", input.file.name));
  }

  // Whether a listed file is in the output directory, and was not put there to be encrypted: its own output
  // would be elsewhere, or it is the output of a file next to it.
  bool is_earlier_output(const std::string& file) {
    const std::string folder = directory_of(file);
    if (folder != last_folder_) {
      last_folder_ = folder;
      last_is_inside_ = directory_.contains(folder);
    }
    if (!last_is_inside_) return false;
    if (!is_output_next_to(file)) return true;
    return !ending_.empty() && file.ends_with(ending_) &&
           status_of(file.substr(0, file.size() - ending_.size())) &&
           begins_like_output({.name = file, .path = file});
  }

  bool begins_like_output(const OutputTarget& output) const try {
    FdSource source = open_again(output);
    const Format& format = format_to_write();
    HeaderReader begin = header_reader(source);
    return begin.begins_with(format.magic) || begin.begins_with(armor_begin(format.armor));
  } catch (const Error&) {
    return false;
  }

  bool is_output_next_to(const std::string& file) const try {
    const std::optional<struct stat> here = status_of(directory_of(file));
    const auto there = status_of(directory_of(names_.path_for(file)), directory_.descriptor());
    return here && there && is_same_inode(*here, *there);
  } catch (const Error&) {
    return true;  // which the input will report
  }

  // Whether the output has the time of the input, and the size that belongs to the input's.
  bool is_up_to_date(const OutputDirectory::Place& place, InputFile& file) {
    const std::optional<struct stat>& output = place.target.status;
    const struct stat& input = file.source.status();
    if (!output || !S_ISREG(input.st_mode) || file.directory) return false;
    if (output->st_mtim.tv_sec < first_version ||
        !directory_.is_stored_time(place, output->st_mtim, input.st_mtim))
      return false;
    if (request_.stream.decrypt) {
      const bool fits = has_plaintext_size(file.source, request_.stream.format.named, output->st_size);
      file.source.skip_to(0);
      return fits;
    }
    try {
      FdSource encrypted = open_again(place.target);
      return has_plaintext_size(encrypted, &format_to_write(), input.st_size);
    } catch (const IoError&) {  // its owner may not be able to read it
      return false;
    }
  }

  SinkRules rules_for(const Endpoints& endpoints, const Messages& messages) {
    const FdSource& source = endpoints.source;
    SinkRules rules = output_rules(request_.output, request_.stream, source.size(), messages);
    rules.durable_name = false;  // the directory is synced once, at the end
    rules.temp.hint = "";
    if (S_ISREG(source.status().st_mode) && !endpoints.directory)
      rules.temp.mode = source.status().st_mode & 0777;
    rules.temp.replaces_read_only = true;  // its input may be, too
    rules.keep = false;                    // the input is still there
    rules.complete = [this, &source, opened = now()](int fd) { complete(source, opened, fd); };
    return rules;
  }

  // A decrypted file that was edited since is not to be lost.
  void refuse_newer(const OutputTarget& there, const InputRequest& input, const struct stat& status) const {
    const auto is_later = [](const timespec& a, const timespec& b) {
      return std::tie(a.tv_sec, a.tv_nsec) > std::tie(b.tv_sec, b.tv_nsec);
    };
    if (request_.stream.decrypt && there.status && is_later(there.status->st_mtim, status.st_mtim))
      throw IoError(fmt::format("{} is newer than {}, so it is not replaced", there.name, input.file.name),
                    "to replace it, omit --skip-existing");
  }

  FdSource open_again(const OutputTarget& target) const {
    Fd fd(openat(target.directory, target.path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd.get() < 0) throw io_error("cannot open", target.name, fd.error());
    return FdSource(std::move(fd), target.name, context_.cancel);
  }

  // Where times are rounded, another change within the same unit would not show.
  void complete(const FdSource& source, const timespec& opened, int fd) {
    const timespec& time = source.status().st_mtim;
    struct stat stored {};
    set_modification_time(fd, time);
    const bool is_rounded =
        time.tv_nsec == 0 || fstat(fd, &stored) != 0 || !is_same_time(stored.st_mtim, time);
    const bool may_change_unnoticed = is_rounded && time.tv_sec >= opened.tv_sec - max_time_unit;
    if (may_change_unnoticed || !source.is_unchanged()) set_modification_time(fd, no_version);
    outputs_.add(fd);
  }

  const FilterRequest& request_;
  Progress& progress_;
  const Context& context_;
  OutputTargets reports_;  // only statistics
  Filter filter_;
  const std::string ending_;
  OutputNames names_;
  FileSet inputs_, outputs_;  // all that this run reads, and what it has written
  OutputDirectory directory_;
  TotalStats totals_;
  std::unique_ptr<Sink> stats_;  // null unless requested
  // The members below are used only by the thread that reads the list.
  std::string last_folder_;  // of a listed file, and whether it is in the output directory
  bool last_is_inside_ = false;
  std::uint64_t left_out_ = 0;  // files
  std::string first_left_out_;
};

}  // namespace

std::unique_ptr<InputRun> make_directory_run(const FilterRequest& request, Progress& progress,
                                             const Context& context) {
  return std::make_unique<DirectoryRun>(request, progress, context);
}

}  // namespace gpuaes
