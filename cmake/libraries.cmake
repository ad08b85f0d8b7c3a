# Debian's libraries, linked statically: the image holds glibc and our programs, nothing else.
set(lib /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})

add_library(lib_boost_json INTERFACE)
target_link_libraries(lib_boost_json INTERFACE ${lib}/libboost_json.a ${lib}/libboost_container.a)

add_library(lib_yaml INTERFACE)
target_link_libraries(lib_yaml INTERFACE ${lib}/libyaml-cpp.a)

add_library(lib_tls INTERFACE)
target_link_libraries(lib_tls INTERFACE ${lib}/libssl.a ${lib}/libcrypto.a Threads::Threads ${CMAKE_DL_LIBS})

# gRPC without TLS: it is spoken on unix sockets only.
pkg_check_modules(GRPC REQUIRED grpc++_unsecure protobuf)
set(grpc_libraries)
foreach(name ${GRPC_STATIC_LIBRARIES})
  if(EXISTS ${lib}/lib${name}.a AND NOT name MATCHES "^(rt|dl|m|pthread|z)$")
    list(APPEND grpc_libraries ${lib}/lib${name}.a)
  endif()
endforeach()
foreach(name address_sorting upb re2 cares)
  if(EXISTS ${lib}/lib${name}.a)
    list(APPEND grpc_libraries ${lib}/lib${name}.a)
  endif()
endforeach()
list(REMOVE_DUPLICATES grpc_libraries)
add_library(lib_grpc INTERFACE)
target_link_libraries(lib_grpc INTERFACE
  -Wl,--start-group ${grpc_libraries} ${lib}/libz.a -Wl,--end-group Threads::Threads ${CMAKE_DL_LIBS})
