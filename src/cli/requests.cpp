#include "cli/requests.hpp"

namespace gpuaes {

void add_files(NamedInputs& files, const SecretRequest& secrets) {
  for (const NamedFile& file : secrets.named.key_files) files.add(file);
  if (secrets.named.passphrase_file) files.add(*secrets.named.passphrase_file);
  for (const RecipientArgument& each : secrets.recipients)
    if (const auto* const file = std::get_if<NamedFile>(&each)) files.add(*file);
}

void add_files(NamedInputs& files, const StreamRequest& stream) {
  if (stream.header) files.add(*stream.header);
}

void add_files(NamedInputs& files, const InputRequest& input) {
  input.command.empty() ? files.add(input.file) : files.add_command();
}

void add_files(NamedInputs& files, const InputsRequest& inputs) {
  if (inputs.list) files.add(*inputs.list);
  for (const InputRequest& input : inputs.named) add_files(files, input);
}

}  // namespace gpuaes
