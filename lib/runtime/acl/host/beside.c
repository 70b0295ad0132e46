// A library that stands beside libascendcl.so under one of the names that programs link; the code
// is all in that one.
typedef int msprof_nothing_of_its_own;
