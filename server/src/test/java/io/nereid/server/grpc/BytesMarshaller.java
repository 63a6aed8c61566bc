package io.nereid.server.grpc;

import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Messages as the bytes that they have on the wire. */
final class BytesMarshaller implements MethodDescriptor.Marshaller<byte[]> {

  @Override
  public InputStream stream(byte[] value) {
    return new ByteArrayInputStream(value);
  }

  @Override
  public byte[] parse(InputStream stream) {
    try {
      return stream instanceof KnownLength
          ? stream.readNBytes(stream.available())
          : stream.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
