package io.nereid.server.http;

import io.helidon.common.concurrency.limits.Limit;
import io.helidon.webserver.spi.ServerConnection;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** One client's connection: reads requests and answers them, one after the other. */
final class HttpConnection implements ServerConnection {

  private static final Logger LOGGER = System.getLogger(HttpConnection.class.getName());

  private static final byte[] CONTINUE =
      "HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  /** Least size of the input's buffer: what is larger is read past it. */
  private static final int INPUT_BYTES = 16 << 10;

  private final HttpContext context;
  private final ClientChannel channel;
  private final ConnectionInput input;
  private final ConnectionOutput output;
  private final ConnectionGuard guard;
  private final KeptFields kept; // null: none
  private final Exchange exchange;
  private final boolean refused; // there are too many

  HttpConnection(HttpContext context, ClientChannel channel) {
    this.context = context;
    this.channel = channel;
    HttpLimits limits = context.limits();
    input = new ConnectionInput(channel, Math.max(INPUT_BYTES, limits.headBytes()));
    guard = new ConnectionGuard(channel, input, limits);
    output = new ConnectionOutput(channel, guard);
    kept = KeptFields.of(context.access().fieldNames(), context.forwarding());
    RequestHeadParser heads = new RequestHeadParser(input, limits.headBytes(), kept);
    BodyReader body = new BodyReader(input, limits, () -> output.write(ByteBuffer.wrap(CONTINUE)));
    exchange = new Exchange(context, channel, guard, heads, body, output);
    refused = context.watch().add(guard) > limits.connectionCount();
  }

  @Override
  public void handle(Limit limit) {
    try {
      if (refused) {
        guard.lingering(); // it gets little time
        channel.open();
        refuse();
      } else {
        guard.opening();
        channel.open();
        serve();
      }
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "connection ended", e);
    } catch (RuntimeException | Error e) {
      LOGGER.log(Level.ERROR, "connection failed", e);
    } finally {
      context.watch().remove(guard);
      guard.close();
    }
  }

  private void serve() throws IOException {
    guard.idle();
    if (channel.applicationProtocol().equals(ConnectionSelector.HTTP_2) || Preface.leads(input)) {
      new StreamsConnection(context, channel, guard, kept).serve(input);
      return;
    }
    while (awaitRequest()) {
      if (!exchange.serve()) {
        linger();
        return;
      }
    }
  }

  /** Whether there is something to read. */
  private boolean awaitRequest() throws IOException {
    if (input.available() == 0) {
      guard.idle();
      if (!input.fill()) {
        return false;
      }
    }
    guard.reading();
    return true;
  }

  private void refuse() throws IOException {
    int most = context.limits().connectionCount();
    exchange.refuse(
        "expected at most "
            + most
            + " connections at a time; --http-max-connections sets the limit");
    linger();
  }

  /**
   * Closing with unread input makes the kernel drop what was written last: lets the client read it
   * first, for a while.
   */
  private void linger() throws IOException {
    guard.lingering();
    output.end();
    do {
      input.skip(input.available());
    } while (input.fill());
  }

  @Override
  public Duration idleTime() {
    return Duration.ZERO; // the watch ends idle connections
  }

  @Override
  public void close(boolean interrupt) {
    if (interrupt) {
      guard.abort();
    }
  }
}
