package io.nereid.server.http.seam;

import io.helidon.http.Headers;
import io.helidon.http.encoding.ContentDecoder;
import io.helidon.http.encoding.ContentEncoder;
import io.helidon.http.encoding.ContentEncodingContext;
import io.helidon.http.encoding.ContentEncodingContextConfig;

/**
 * Makes Helidon pass bodies on unchanged: the protocol compresses and decompresses by itself, with
 * limits and messages of its own.
 */
final class AsTheyCome implements ContentEncodingContext {

  @Override
  public boolean contentEncodingEnabled() {
    return false;
  }

  @Override
  public boolean contentDecodingEnabled() {
    return true; // else Helidon refuses requests with Content-Encoding
  }

  @Override
  public boolean contentEncodingSupported(String coding) {
    return true;
  }

  @Override
  public boolean contentDecodingSupported(String coding) {
    return true;
  }

  @Override
  public ContentEncoder encoder(String coding) {
    return ContentEncoder.NO_OP;
  }

  @Override
  public ContentDecoder decoder(String coding) {
    return ContentDecoder.NO_OP;
  }

  @Override
  public ContentEncoder encoder(Headers headers) {
    return ContentEncoder.NO_OP;
  }

  @Override
  public ContentEncodingContextConfig prototype() {
    return ContentEncodingContextConfig.create();
  }
}
