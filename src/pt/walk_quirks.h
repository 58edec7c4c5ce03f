// What a walk through a trace has to know of the processor that wrote it, and how it treats errors.
#pragma once

namespace sonde::pt {

struct WalkQuirks {
  // Errata, by Intel's numbers.
  bool skd022 = false;  // a FUP behind a VMLAUNCH or a VMRESUME may be wrong
  bool bdm70 = false;   // a PSB before tracing begins may say that it is on, with a wrong address
  /// Behind an error, go on where the trace has an address again; else at a PSB, as libipt.
  bool resumes = true;
};

}  // namespace sonde::pt
