#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "files/conflicts.hpp"
#include "format/parts/directory.hpp"
#include "format/sealed.hpp"
#include "io/directory.hpp"
#include "io/fd_source_sink.hpp"
#include "io/naming.hpp"
#include "io/new_file.hpp"
#include "keys/kdf.hpp"
#include "parts/commands.hpp"
#include "parts/job_file.hpp"
#include "parts/part_file.hpp"
#include "run/output_names.hpp"
#include "secrets/secrets.hpp"
#include "terminal/context.hpp"

namespace gpuaes {
namespace {

// Parts of 1 GiB, unless these would be too many for one process after another to join.
constexpr std::uint64_t default_part_bytes = 1 << 30, max_default_parts = 1000;

std::uint32_t default_count(std::uint64_t size) {
  const std::uint64_t count = size / default_part_bytes + (size % default_part_bytes != 0 ? 1 : 0);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(count, 1, max_default_parts));
}

JobFile make_job(const PlanRequest& request, const Context& context) {
  const Keyring keyring = read_secrets(request.secrets, context);
  check_new_slots(keyring);
  if (const char* const warning = writer_warning(keyring, false)) context.messages.warning(warning);
  const Secret file_key = random_secret(file_key_bytes);
  const SealedSuite suite{.cipher = request.cipher, .in_parts = true};
  std::vector<std::byte> header =
      make_sealed_header(suite, file_key, keyring, [&] { context.cancel.check(); });
  FrameSecret secret = make_frame_secret(suite.cipher, file_key, header, request.label);
  return {std::move(header), std::move(secret), request.count.value_or(0), std::nullopt};
}

// The head goes first, in the way that parts are published: a file system that cannot do this is refused.
void fill(const Directory& directory, JobFile& job, const FdSource* input, const Context& context) {
  const std::unique_ptr<Sink> head = open_member(directory, head_name, context);
  head->write(job.header);
  head->close();
  if (input != nullptr) {
    job.input = plan_input(*input, directory, head_name, context.cancel);
    if (job.count == 0) job.count = default_count(job.input->size);
    if (job.input->is_device)
      context.messages.warning(fmt::format(
          "{} is a block device, and nothing shows whether it is modified while it is being sealed",
          input->name()));
  }
  write_new_file({.name = directory.name_of(job_name), .path = job_name, .directory = directory.descriptor()},
                 encode(job).bytes(), context.cancel);
}

}  // namespace

void run_plan(const PlanRequest& request, const Messages& messages) {
  RunControl control(messages);
  const Context& context = control.context;
  NamedInputs named = files_of(request.secrets);
  if (request.input.is_named()) add_files(named, request.input);
  prepare_inputs(named);
  warn_of_ending(request.directory, sealed_format, messages);
  JobFile job = make_job(request, context);
  std::optional<FdSource> input;
  if (request.input.is_named()) input.emplace(open_planned(request.input.file, context.cancel));
  const Directory directory =
      request.directory.in_context([&] { return Directory::make(request.directory.name); });
  try {
    fill(directory, job, input ? &*input : nullptr, context);
    sync_folder(directory_of(directory.name()));
    const std::string count = fmt::format("{}\n", job.count);
    if (job.count != 0) print(count, context.cancel);
  } catch (...) {
    // A failure here must not hide the first.
    for (const char* const name : {head_name, job_name}) unlinkat(directory.descriptor(), name, 0);
    rmdir(directory.name().c_str());
    throw;
  }
}

}  // namespace gpuaes
