#include "base/stdout_output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace msprof {

namespace {

void write_stdout(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    throw std::system_error(errno, std::generic_category(), "writing");
}

}  // namespace

StdoutOutput::StdoutOutput(DocumentForm form)
    : TextOutput(1 << 16), form_(form), is_terminal_(::isatty(STDOUT_FILENO) == 1) {}

void StdoutOutput::flush() {
  write_stdout(is_terminal_ ? terminal_document(buffer_, form_) : buffer_);
  buffer_.clear();
}

void print_document_text(std::string_view text, DocumentForm form) {
  StdoutOutput out(form);
  out.write(text);
  out.drain(1);
}

}  // namespace msprof
