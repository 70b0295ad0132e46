# Embeds style sheets and scripts, which are separate files, as text.
# msprof_embed_assets(TARGET TEMPLATE.cpp.in NAME:FILE ...): adds a source to the target, generated
# from the template at configure time: @NAME_text@ is the file's content, @NAME_hash@ its SHA-256.
function(msprof_embed_assets target template)
  foreach(asset ${ARGN})
    string(REPLACE ":" ";" asset ${asset})
    list(GET asset 0 name)
    list(GET asset 1 file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} ${name}_text)
    file(SHA256 ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${name}_hash)
  endforeach()
  string(REGEX REPLACE "\\.in$" "" made ${CMAKE_CURRENT_BINARY_DIR}/${template})
  configure_file(${template} ${made} @ONLY)
  target_sources(${target} PRIVATE ${made})
endfunction()
