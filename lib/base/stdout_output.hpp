// StdoutOutput: writes CSV, JSON or HTML documents to stdout. Files and pipes get every byte
// unchanged; on a terminal, control characters are replaced. For verbs that print data; tables and
// sentences are made printable where they are built (text.hpp).
#pragma once

#include <string_view>

#include "base/text.hpp"
#include "base/text_output.hpp"

namespace msprof {

// Throws std::system_error if writing fails.
class StdoutOutput : public TextOutput {
 public:
  explicit StdoutOutput(DocumentForm form);

 private:
  void flush() override;
  DocumentForm form_;
  bool is_terminal_;
};

void print_document_text(std::string_view text, DocumentForm form);

}  // namespace msprof
