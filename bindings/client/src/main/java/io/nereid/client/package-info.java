/**
 * A client for servers of the Open Inference Protocol, over HTTP and gRPC. Start at {@link
 * io.nereid.client.InferenceClient}.
 */
package io.nereid.client;
