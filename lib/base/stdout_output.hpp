// StdoutOutput: documents on stdout: CSV, JSON, HTML. A file or a pipe gets every byte as it is; on
// a terminal nothing in them steers it. For verbs that print data; tables and sentences are made
// printable where they are put together (text.hpp).
#pragma once

#include <string_view>

#include "base/text.hpp"
#include "base/text_output.hpp"

namespace msprof {

// Throws std::system_error where stdout takes no more.
class StdoutOutput : public TextOutput {
 public:
  explicit StdoutOutput(DocumentForm form);

 private:
  void flush() override;
  DocumentForm form_;
  bool is_terminal_;
};

// Prints a whole document.
void print_document_text(std::string_view text, DocumentForm form);

}  // namespace msprof
