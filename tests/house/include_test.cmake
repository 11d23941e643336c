# Compiles one line, `#include "HEADER"`, with the flags in RESPONSE_FILE. EXPECT is `found` (it
# compiles) or `missing` (it does not, because no such file is in reach, and for no other reason).
file(WRITE ${SOURCE} "#include \"${HEADER}\"\n")
execute_process(COMMAND ${COMPILER} @${RESPONSE_FILE} -fsyntax-only ${SOURCE}
                RESULT_VARIABLE status ERROR_VARIABLE errors)
if(EXPECT STREQUAL "found")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${HEADER} should compile here:\n${errors}")
  endif()
elseif(status EQUAL 0)
  message(FATAL_ERROR "${HEADER} compiles here, against the house: see the link line of the target")
elseif(NOT errors MATCHES "error: '?${HEADER}'?(: No such file or directory| file not found)")
  message(FATAL_ERROR "${HEADER} fails, but not because it is out of reach:\n${errors}")
endif()
