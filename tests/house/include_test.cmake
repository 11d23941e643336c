# Compiles one line, `#include "HEADER"`, with the flags in RESPONSE_FILE, as far as the preprocessor
# (which is where an include is found or not, and ten times as fast as the rest). EXPECT is `found`
# or `missing`: no such file is in reach, and it fails for no other reason.
file(WRITE ${SOURCE} "#include \"${HEADER}\"\n")
execute_process(COMMAND ${COMPILER} @${RESPONSE_FILE} -E -o /dev/null ${SOURCE}
                RESULT_VARIABLE status ERROR_VARIABLE errors)
if(EXPECT STREQUAL "found")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${HEADER} should be in reach here:\n${errors}")
  endif()
elseif(status EQUAL 0)
  message(FATAL_ERROR "${HEADER} is in reach here, against the house: see the link line of the target")
elseif(NOT errors MATCHES "error: '?${HEADER}'?(: No such file or directory| file not found)")
  message(FATAL_ERROR "${HEADER} fails, but not because it is out of reach:\n${errors}")
endif()
