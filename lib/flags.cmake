# msprof_flags: warnings and sanitizers, the one place for them. Every target of ours links it.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

add_library(msprof_flags INTERFACE)
target_compile_options(msprof_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast>
  $<$<BOOL:${MSPROF_WERROR}>:-Werror>
  # Doubles are printed and compared with those of other machines: no fused multiply-add where a target has one.
  -ffp-contract=off)
# g++ 12 warns falsely in what it inlines of libstdc++: "literal" + std::string&& (GCC bug 105329), std::optional. clang
# (scripts/lint) and ASan find the real faults of these kinds.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(msprof_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-maybe-uninitialized;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>)
endif()
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
  # Files beyond 2 GiB; and g++ notes calls of templates that a g++ before 7.1 compiled differently.
  target_compile_definitions(msprof_flags INTERFACE _FILE_OFFSET_BITS=64)
  target_compile_options(msprof_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-psabi>)
endif()
# Test code is not optimized: that is a quarter of the time that a Catch file takes to compile.
target_compile_options(msprof_flags INTERFACE $<$<BOOL:$<TARGET_PROPERTY:MSPROF_TEST_CODE>>:-O0>)
if(MSPROF_SANITIZE)
  target_compile_options(msprof_flags INTERFACE
    -fsanitize=${MSPROF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # Test code is compiled with ASan but without UBSan, which is a third of the time that a Catch file takes.
  target_compile_options(msprof_flags INTERFACE
    $<$<BOOL:$<TARGET_PROPERTY:MSPROF_TEST_CODE>>:-fno-sanitize=undefined>)
  target_link_options(msprof_flags INTERFACE -fsanitize=${MSPROF_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND MSPROF_SANITIZE MATCHES "address.*undefined")
    # ASan also finds what UBSan's null and object-size checks find, and these take a fifth of the compile time. A failed
    # check traps, and ASan prints the stack with the line (handle_sigill=1): UBSan's messages would add 55 MB of
    # descriptions to every program, which each start maps and the leak check reads.
    target_compile_options(msprof_flags INTERFACE
      -fno-sanitize=null,object-size,vptr -fsanitize-undefined-trap-on-error)
  endif()
endif()
if(MSPROF_FUZZ)
  target_compile_options(msprof_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
