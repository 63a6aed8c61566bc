// Makes a model out of the options of an ensemble.
#ifndef NEREID_CORE_ENSEMBLE_LOAD_ENSEMBLE_H_
#define NEREID_CORE_ENSEMBLE_LOAD_ENSEMBLE_H_

#include "base/status.h"
#include "core/model/model.h"
#include "nereid/nereid.h"

namespace nereid {

// The counterpart of Model::Load for options with steps.
Status LoadEnsemble(Runtime& runtime, const nrd_model_options& options, Model** model_out);

}  // namespace nereid

#endif  // NEREID_CORE_ENSEMBLE_LOAD_ENSEMBLE_H_
