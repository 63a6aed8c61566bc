/**
 * A client for servers of the Open Inference Protocol, over HTTP and gRPC. It begins with {@link
 * io.nereid.client.InferenceClient}, which keeps connections: one for each server is enough, for
 * any number of threads.
 *
 * {@snippet class="io.nereid.client.ClientGuideTest" region="infer"}
 *
 * <p>Calls block, which is meant for virtual threads; {@link
 * io.nereid.client.InferenceClient#inferAsync} returns a future whose cancellation reaches the
 * server. A failure is an {@link io.nereid.client.InferenceException} with the code that the server
 * gave, over either protocol.
 */
package io.nereid.client;
