#include "cli/options.hpp"

#include "cli/option_rules.hpp"
#include "cli/stream_options.hpp"

namespace gpuaes {

Options parse_options(int argc, const char* const* argv) {
  const CommandLine line =
      parse_with_command(argc, argv, option_texts(stream_options), static_cast<std::size_t>(argc));
  refuse_command_as_input(line);
  Options options = read_options(stream_options, line.given);
  if (!line.positional.empty()) options.inputs = line.positional;
  if (line.command) options.command = *line.command;
  check_rules(line, options);
  options.in_place =
      options.action == Options::Action::rekey && options.names_input() && !line.given.contains("output");
  options.progress = options.progress && options.level != Messages::Level::quiet;
  return options;
}

std::string help_text() {
  return "usage: gpuaes-stream (-k FILE | -p | -r RECIPIENT | -R FILE)... [OPTION]...\n"
         "                     [FILE | -- COMMAND...]\n"
         "       gpuaes-stream -d (-k FILE | -p)... [OPTION]... [FILE]\n"
         "       gpuaes-stream --range OFFSET:[LENGTH] (-k FILE | -p)... [OPTION]... FILE\n"
         "       gpuaes-stream --salvage (-k FILE | -p)... [OPTION]... [FILE]\n"
         "       gpuaes-stream -d --part I/N (-k FILE | -p)... [--into FILE] FILE\n"
         "       gpuaes-stream -d --part I (-k FILE | -p)... [OPTION]... DIRECTORY\n"
         "       gpuaes-stream -t (-k FILE | -p)... [OPTION]... [FILE]...\n"
         "       gpuaes-stream --rekey (-k FILE | -p)...\n"
         "                     (--new-key FILE | -r RECIPIENT)... [OPTION]... [FILE]\n"
         "       gpuaes-stream --info [--json] [-f FORMAT] [FILE]...\n"
         "       gpuaes-stream --list-lanes | --completions SHELL | -V | -h\n\n"
         "Encrypt or decrypt files and pipes on CPUs and NVIDIA GPUs.\n\n" +
         format_options(stream_options) +
         "\nThe exit status is 0 for success, 1 for an I/O or system error, 2 for a wrong\n"
         "command line or secret, 3 if no secret opens the input, and 4 for corrupt or\n"
         "truncated input.\n"
         "\nExamples:\n"
         "  Make a key, encrypt an archive and unpack it again:\n"
         "    gpuaes-keygen -o key\n"
         "    tar -c photos | gpuaes-stream -k key >photos.sealed\n"
         "    gpuaes-stream -d -k key <photos.sealed | tar -x\n\n"
         "  Encrypt an archive only if tar succeeds:\n"
         "    gpuaes-stream -k key -o photos.sealed -- tar -c photos\n\n"
         "  Encrypt a file with a passphrase:\n"
         "    gpuaes-stream -p -i disk.img -o disk.sealed\n\n"
         "  Encrypt for a recipient; only its identity can decrypt:\n"
         "    gpuaes-keygen --x25519 -o identity\n"
         "    tar -c photos | gpuaes-stream -R identity.pub >photos.age\n"
         "    gpuaes-stream -d -k identity <photos.age | tar -x\n\n"
         "See gpuaes-stream(1) for details.\n";
}

std::string completions(std::string_view shell) {
  return completions({.name = "gpuaes-stream",
                      .options = option_texts(stream_options),
                      .takes_files = true,
                      .runs_command = true},
                     shell);
}

}  // namespace gpuaes
