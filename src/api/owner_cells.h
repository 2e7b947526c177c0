// Edge: whose processes and devices are, as cells for a terminal. Internal to src/api.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/document_reader.h"

namespace stoker::api {

// Each says why where it is not known ("denied", "..."), and "-" where there is none.
std::string user_cell(const Json& process);       // "ada"; "1001" for a number without a name
std::string pod_cell(const Json& process);        // "research/trainer-0"
std::string container_cell(const Json& process);  // "main"; "0123456789ab" without a name
std::string job_cell(const Json& process);        // "4711.0 train"; of an array "4700_3.0 train"
// The one that says most: "job 4711.0 train", else the pod, else "docker 0123456789ab".
std::string owner_cell(const Json& process);

// Has the process `part` in its name, pid, user, pod, namespace, container or job, of any case?
bool mentions(const Json& process, const std::string& part);

// Who holds the GPU or the MIG instance (an entry of its `mig_devices`; nullptr: the card itself), and
// which jobs have a process there: "research/notebook-a (share 0,2)", "job 4711". Empty: nobody, or
// not known.
std::vector<std::string> device_owners(const Json& gpu, const Json* mig);
// Those of the card and of all its instances, shares left out.
std::vector<std::string> card_owners(const Json& gpu);
// "research/notebook-a +1"; "" for nobody.
std::string first_of(const std::vector<std::string>& owners);

// Why owners are missing, a line for each reason that a person can do something about. `attribution`
// is that of a status document.
std::vector<std::string> why_no_owners(const Json& attribution);

// At most `width` columns, with a mark where something was cut off: the front of "namespace/pod", whose
// end says most, and the end of everything else.
std::string cut_pod(const std::string& text, std::size_t width, bool unicode);
std::string cut_end(const std::string& text, std::size_t width, bool unicode);

}  // namespace stoker::api
