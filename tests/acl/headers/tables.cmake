# From functions.txt, generates for each header a C11 and a C++ source that include only this
# header, first, and take the address of each function; and tables.cpp, which lists the tables for
# the test. Sets `table_sources` to the sources.
set(table_sources "")
set(list_of_tables "")
set(declarations "")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS headers/functions.txt)

function(msprof_write_table header id functions)
  foreach(language c cpp)
    set(entries "")
    foreach(function ${functions})
      if(language STREQUAL c)
        string(APPEND entries "    {\"${function}\", (msprof_function)${function}},\n")
      else()
        string(APPEND entries "    {\"${function}\", reinterpret_cast<msprof_function>(${function})},\n")
      endif()
    endforeach()
    set(text "#include \"${header}\"\n\n#include \"acl/headers/table.h\"\n\n")
    set(table "struct msprof_named_function table_${id}_${language}[]")
    if(language STREQUAL c)
      string(APPEND text "extern const ${table};\nconst ${table} = {\n${entries}    {0, 0}};\n")
    else()
      string(APPEND text "extern \"C\" const ${table};\nextern \"C\" const ${table} = {\n${entries}"
             "    {nullptr, nullptr}};\n")
    endif()
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/headers/${id}_${language}.${language} CONTENT "${text}" @ONLY)
  endforeach()
endfunction()

file(STRINGS headers/functions.txt lines REGEX "^[^#]")
set(header "")
# A dummy header at the end completes the last one.
foreach(line ${lines} "<end>")
  if(line MATCHES "^<(.*)>$")
    set(next ${CMAKE_MATCH_1})
    if(header)
      string(MAKE_C_IDENTIFIER ${header} id)
      msprof_write_table(${header} ${id} "${functions}")
      list(APPEND table_sources ${CMAKE_CURRENT_BINARY_DIR}/headers/${id}_c.c ${CMAKE_CURRENT_BINARY_DIR}/headers/${id}_cpp.cpp)
      string(APPEND declarations "extern \"C\" const msprof_named_function table_${id}_c[], table_${id}_cpp[];\n")
      string(APPEND list_of_tables "      {\"${header}\", table_${id}_c, table_${id}_cpp},\n")
    endif()
    set(header ${next})
    set(functions "")
  else()
    list(APPEND functions ${line})
  endif()
endforeach()

file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/headers/tables.cpp @ONLY CONTENT
"#include \"acl/headers/tables.hpp\"

${declarations}
const std::vector<HeaderTables>& header_tables() {
  static const std::vector<HeaderTables> tables = {
${list_of_tables}  };
  return tables;
}
")
list(APPEND table_sources ${CMAKE_CURRENT_BINARY_DIR}/headers/tables.cpp)
