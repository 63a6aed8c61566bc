/** The gRPC frontend: the Open Inference Protocol's service, health checking and reflection. */
package io.nereid.server.grpc;
