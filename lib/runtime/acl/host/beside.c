// An empty library that depends on libascendcl.so. Built under each of the other names that
// programs link.
typedef int msprof_nothing_of_its_own;
