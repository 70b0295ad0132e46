/* A table of the functions of one header, with their addresses as seen from C or C++; ends with
 * a NULL name. */
#ifndef MSPROF_TESTS_ACL_HEADERS_TABLE_H
#define MSPROF_TESTS_ACL_HEADERS_TABLE_H

typedef void (*msprof_function)(void);

struct msprof_named_function {
  const char* name;
  msprof_function address;
};

#endif
