# Writes a C++ file with a text file as a string constant:
# cmake -DINPUT=rules.json -DNAME=kBuiltinRules -DOUTPUT=builtin_rules.cpp -P embed.cmake
file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "#include <string_view>\n
namespace msprof {\n
extern const std::string_view ${NAME} = R\"rules(${text})rules\";\n
}  // namespace msprof\n")
