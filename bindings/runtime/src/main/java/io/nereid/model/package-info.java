/**
 * The types that describe a model and tell about it: {@link io.nereid.model.ModelSpec} describes
 * one to be loaded, {@link io.nereid.model.ModelConfiguration} is the configuration it is served
 * with, {@link io.nereid.model.ModelEvent} a step of its life. All are values: they never change,
 * and any thread may read them.
 *
 * <p>A specification names inputs and outputs, says how requests are gathered into batches, and who
 * executes them: a backend of the core ({@code onnxruntime}), one that is announced, or a lambda,
 * which is a {@link io.nereid.model.Backend} without state:
 *
 * {@snippet class="io.nereid.RuntimeGuideTest" region="spec"}
 *
 * <p>For an ONNX file {@link io.nereid.model.ModelSpec#onnx} takes inputs and outputs from the
 * file. Directories of models are described by {@link io.nereid.model.RepositoryOptions}.
 */
package io.nereid.model;
