#include "run/many_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "cli/command_line.hpp"
#include "format/format.hpp"
#include "io/output_directory.hpp"
#include "run/endpoints.hpp"
#include "run/inputs.hpp"
#include "run/output_names.hpp"

namespace gpuaes {
namespace {

// A name that is a secret must not be shown in another error.
void add_name(OutputNames& names, const InputRequest& input) {
  refuse_secret_as_name(input.name);
  names.add(input.name);
}

// UsageError if inputs cannot have the outputs that their names require. A wrong ending is an error only of
// that input, and is reported in its turn.
OutputNames check_names(const FilterRequest& request, const Keyring& keyring) {
  const std::optional<std::string>& named = request.stream.format.name;
  const Format& format = named ? find_format(*named) : format_to_write(keyring);
  const std::string ending = request.stream.decrypt ? "" : fmt::format(".{}", format.name);
  OutputNames names(*request.output.directory, ending);
  if (request.reports.stats) names.protect(*request.reports.stats);
  for (const InputRequest& input : request.inputs.named) {
    try {
      add_name(names, input);
    } catch (const IoError&) {
    }
  }
  return names;
}

bool is_up_to_date(const OutputTarget& output, const struct stat& input) {
  if (!output.status) return false;
  const timespec &then = input.st_mtim, &now = output.status->st_mtim;
  return std::tie(now.tv_sec, now.tv_nsec) >= std::tie(then.tv_sec, then.tv_nsec);
}

// Each output gets the modification time of its input. So if the input changed while it was read, the output
// is older than it. Some file systems cannot set times.
void set_time(const OutputTarget& output, const timespec& time) {
  const timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, time};
  utimensat(output.directory, output.path.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

// Null unless requested.
std::unique_ptr<Sink> open_stats(const ManyFiles& files, const Messages& messages, Cancel& cancel) {
  if (!files.targets.stats) return nullptr;
  OutputTargets only_stats = files.targets;
  only_stats.written = false;
  refuse_output_conflicts(files.named, only_stats);
  return with_option("--stats",
                     [&] { return open_sink(*files.targets.stats, report_rules(messages), cancel); });
}

}  // namespace

void run_into_directory(const FilterRequest& request, const ManyFiles& files, const Messages& messages,
                        Cancel& cancel) {
  OutputNames names = check_names(request, files.keyring);
  const std::unique_ptr<Sink> stats = open_stats(files, messages, cancel);
  TotalStats totals;
  OutputDirectory directory =
      with_option("--output-dir", [&] { return OutputDirectory(*request.output.directory); });
  const auto check_listed = [&](const InputRequest& input) {
    add_name(names, input);
    refuse_unsuitable_file(input, files.secrets);
  };
  const RunInput run_one = [&](const InputRequest& input, const Messages& about, bool alone) -> InputResult {
    if (!request.inputs.list) refuse_unsuitable_file(input, files.secrets);
    const std::string path = names.path_for(input.name);
    Endpoints endpoints = open_input(input, request.stream.decrypt, cancel);
    endpoints.totals = &totals;
    const struct stat before = endpoints.source.status();
    const OutputDirectory::Place place = directory.find(path);
    if (request.output.skip_existing && is_up_to_date(place.target, before)) return {.skipped = true};
    files.run(input, std::move(endpoints), {.output = place.target, .shown = place.target.name}, about,
              alone);
    set_time(place.target, before.st_mtim);
    return {};
  };
  const auto finish = [&](const InputCounts& counts) {
    directory.sync();
    if (stats) with_option("--stats", [&] { totals.write(*stats, counts); });
  };
  for_each_input(request.inputs, messages, cancel,
                 {.run = run_one,
                  .check_listed = check_listed,
                  .side_by_side = !files.keyring.has_plugin(),
                  .verb = request.stream.decrypt ? "decrypted" : "encrypted",
                  .progress = &files.progress,
                  .at_end = finish});
}

}  // namespace gpuaes
