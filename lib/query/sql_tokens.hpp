// The words of SQL, without its comments and texts: to see what it is about before it runs.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace msprof {

struct SqlWords {
  std::set<std::string> words;  // names and key words, lower case; quoted names, too
  bool takes_all = false;       // a '*' that stands for columns, or a natural join
};

// Of any text; what is no SQL gives any words.
SqlWords words_of(std::string_view sql);

}  // namespace msprof
