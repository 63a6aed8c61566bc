/** Builds TensorRT engines: {@link io.nereid.tensorrt.builder.EngineBuilder} is where to start. */
package io.nereid.tensorrt.builder;
