# cmake -DINPUT=rules.json -DNAME=kBuiltinRules -DOUTPUT=builtin_rules.cpp -P embed.cmake: a text file as a constant.
file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "#include <string_view>\n
namespace msprof {\n
extern const std::string_view ${NAME} = R\"rules(${text})rules\";\n
}  // namespace msprof\n")
