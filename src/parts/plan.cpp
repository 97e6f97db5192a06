#include <vector>

#include "cli/program.hpp"
#include "format/sealed.hpp"
#include "io/output_file.hpp"
#include "keys/kdf.hpp"
#include "parts/commands.hpp"
#include "parts/job_file.hpp"
#include "run/file_conflicts.hpp"
#include "run/secrets.hpp"

namespace gpuaes {

void run_plan(const Options& options, const Messages& messages) {
  RunControl control(messages);
  Cancel& cancel = control.cancel;
  refuse_input_conflicts(options);
  const Secrets secrets = read_secrets(options, messages, cancel);
  check_new_slots(secrets.keys, secrets.recipients, static_cast<bool>(secrets.passphrase));
  if (const char* const warning = writer_warning(secrets, false)) messages.warning(warning);
  Secret file_key(file_key_bytes);
  fill_random(file_key.bytes());
  const SealedSuite suite{.cipher = options.cipher.value_or(Cipher::aes_256), .in_parts = true};
  const std::vector<std::byte> header = make_header(suite, file_key, secrets, cancel);
  write_new_file(*options.output, encode_job(header, file_key, options.label).bytes(), cancel, {});
}

}  // namespace gpuaes
