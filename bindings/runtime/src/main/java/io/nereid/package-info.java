/**
 * An inference runtime to embed: {@link io.nereid.Nereid} loads models, {@link
 * io.nereid.InferRequest} runs them, {@link io.nereid.tensor.Tensor} holds the data that goes in
 * and comes out. A model that is one file needs nothing else:
 *
 * {@snippet class="io.nereid.RuntimeGuideTest" region="open"}
 *
 * <p><b>Which way in.</b> {@link io.nereid.Nereid#open(java.nio.file.Path)} takes a file or a model
 * repository; {@link io.nereid.Nereid#create()} begins without models, and {@link
 * io.nereid.Nereid#load(io.nereid.model.ModelSpec)} adds those that a program describes. One object
 * of {@code Nereid} is enough for a program: its models share memory, threads and queues.
 *
 * <p><b>Requests.</b> {@link io.nereid.InferRequest#infer} blocks, and is made for virtual threads:
 * a quick model runs on the calling one, others get batches together. {@link
 * io.nereid.InferRequest#inferAsync} returns a future in its place:
 *
 * {@snippet class="io.nereid.RuntimeGuideTest" region="async"}
 *
 * <p><b>Closing.</b> Requests and responses hold memory until they are closed, so each belongs in a
 * {@code try}. A response may outlive its request. {@link io.nereid.Nereid#openHandles} tells where
 * forgotten requests and responses were made, with {@code -Dnereid.leaks=record}.
 *
 * <p><b>Failures.</b> A failure is a {@link io.nereid.types.NereidException} with a code; using a
 * closed object is an {@link java.lang.IllegalStateException}:
 *
 * {@snippet class="io.nereid.RuntimeGuideTest" region="failure"}
 */
package io.nereid;
