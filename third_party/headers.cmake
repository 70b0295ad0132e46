# What the runtimes need when they are built alone, perhaps for another machine, whose packages are not here: threads, and
# headers of this machine in a folder of their own, because headers are the same everywhere.
set(CMAKE_THREAD_PREFER_PTHREAD ON)
find_package(Threads REQUIRED)
find_path(NLOHMANN_JSON_FOLDER nlohmann/json.hpp NO_CMAKE_FIND_ROOT_PATH PATHS /usr/include /usr/local/include)
if(NOT NLOHMANN_JSON_FOLDER)
  message(FATAL_ERROR "A package is missing: apt-get install nlohmann-json3-dev")
endif()
set(headers ${CMAKE_CURRENT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${headers})
file(CREATE_LINK ${NLOHMANN_JSON_FOLDER}/nlohmann ${headers}/nlohmann SYMBOLIC)
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
target_include_directories(nlohmann_json::nlohmann_json SYSTEM INTERFACE ${headers})
