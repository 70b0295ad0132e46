# msprof_flags: the only place that sets warnings and sanitizers. All our targets link it.
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
  # Doubles are printed and compared across machines: no fused multiply-add, which only some targets
  # have.
  -ffp-contract=off
  # What a program does not use of libstdc++ and of its own libraries is left out of packages.
  $<$<CONFIG:Release>:-ffunction-sections;-fdata-sections>)
target_link_options(msprof_flags INTERFACE $<$<CONFIG:Release>:-Wl,--gc-sections>)
# g++ 12 gives false warnings for inlined libstdc++ code: "literal" + std::string&& (GCC bug
# 105329), std::optional. clang (scripts/lint) and ASan find real errors of these kinds.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(msprof_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-maybe-uninitialized;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>)
endif()
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
  # Files above 2 GiB; -Wno-psabi silences g++'s notes about template calls that g++ before 7.1
  # compiled differently.
  target_compile_definitions(msprof_flags INTERFACE _FILE_OFFSET_BITS=64)
  target_compile_options(msprof_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-psabi>)
endif()
# Test code is not optimized: this saves a quarter of the compile time of a Catch file.
target_compile_options(msprof_flags INTERFACE $<$<BOOL:$<TARGET_PROPERTY:MSPROF_TEST_CODE>>:-O0>)
if(MSPROF_SANITIZE)
  target_compile_options(msprof_flags INTERFACE
    -fsanitize=${MSPROF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # Test code is compiled with ASan but without UBSan, which would take a third of the compile time
  # of a Catch file.
  target_compile_options(msprof_flags INTERFACE
    $<$<BOOL:$<TARGET_PROPERTY:MSPROF_TEST_CODE>>:-fno-sanitize=undefined>)
  target_link_options(msprof_flags INTERFACE -fsanitize=${MSPROF_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND MSPROF_SANITIZE MATCHES "address.*undefined")
    # ASan also finds the errors of UBSan's null and object-size checks, which take a fifth of the
    # compile time. A failed check traps, and ASan prints the stack with the line (handle_sigill=1):
    # UBSan's messages would add 55 MB of descriptions to every program, which are mapped at each
    # start and read by the leak check.
    target_compile_options(msprof_flags INTERFACE
      -fno-sanitize=null,object-size,vptr -fsanitize-undefined-trap-on-error)
  endif()
endif()
if(MSPROF_FUZZ)
  target_compile_options(msprof_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
