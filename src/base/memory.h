// What a long-lived small process does for its size.
#pragma once

namespace pawl {

// Gives back what only the start needed: free heap, and the pages of program code and constants. What
// is used again comes back from the page cache, a few microseconds a page; the rest stays away. Call it
// once, when the process has settled.
void ReleaseStartupMemory();

}  // namespace pawl
