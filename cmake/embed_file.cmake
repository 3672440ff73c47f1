# cmake -DINPUT=FILE -DOUTPUT=CPP -P embed_file.cmake: a page as a source that has viewer_page(). As an
# array of bytes: compilers limit the length of a string. Without INPUT a page that says what is missing.
if(INPUT)
    file(READ ${INPUT} hex HEX)
else()
    string(HEX "<!doctype html><meta charset=\"utf-8\"><title>Braid</title>
<p>The viewer was not there when this program was built.\n" hex)
endif()
string(REGEX REPLACE "(................................)" "\\1\n    " hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
file(WRITE ${OUTPUT} "// Made by cmake/embed_file.cmake.
#include \"braid/profile/viewer_page.hpp\"

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {
constexpr unsigned char page[] = {
    ${hex}
};
}  // namespace

std::string_view viewer_page() { return {reinterpret_cast<const char*>(page), sizeof page}; }

}  // namespace profile
BRAID_NAMESPACE_END
")
