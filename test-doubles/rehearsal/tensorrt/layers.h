// Layers as callers hold them.
#ifndef NEREID_REHEARSAL_TENSORRT_LAYERS_H_
#define NEREID_REHEARSAL_TENSORRT_LAYERS_H_

#include <memory>

#include "network.h"

namespace rehearsal::trt {

// The object for a node of a kind, with the functions that callers set it up by.
std::unique_ptr<LayerObject> NewLayer(Network* network, std::size_t index, LayerType type);

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_LAYERS_H_
