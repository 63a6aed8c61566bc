package io.nereid.server.grpc;

import com.google.common.base.Function;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerInterceptors;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.testing.integration.AbstractInteropTest;
import io.grpc.testing.integration.TestServiceImpl;
import io.nereid.Nereid;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.shared.ServerState;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** gRPC's own suite of interoperability, with its service behind the listener of the server. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class InteropTest {

  private final ScheduledExecutorService executor = Executors.newScheduledThreadPool(2);
  private Nereid nereid;
  private GrpcServer server;
  private GrpcServer compressing; // its replies

  @BeforeAll
  void start() {
    nereid = Nereid.open(RepositoryOptions.builder().explicit().build());
    server = start(GrpcCompression.NONE);
    compressing = start(GrpcCompression.LOW);
  }

  private GrpcServer start(GrpcCompression compression) {
    return GrpcServer.start(
        ServerState.builder(nereid).build(),
        GrpcOptions.DEFAULT.withCompression(compression),
        List.of(
            ServerInterceptors.intercept(
                new TestServiceImpl(executor), TestServiceImpl.interceptors())));
  }

  @AfterAll
  void stop() {
    server.stop(Duration.ofSeconds(10));
    compressing.stop(Duration.ofSeconds(10));
    nereid.close();
    server.close();
    compressing.close();
    executor.shutdownNow();
  }

  /** All cases but two that look into a server of the suite's own. */
  static Stream<Method> cases() {
    return Arrays.stream(AbstractInteropTest.class.getMethods())
        .filter(method -> method.isAnnotationPresent(org.junit.Test.class))
        .filter(method -> !method.getName().equals("sendsTimeoutHeader"))
        .filter(method -> !method.getName().equals("censusContextsPropagated"))
        .sorted(Comparator.comparing(Method::getName));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void passes(Method test) throws Throwable {
    run(
        test.getName().startsWith("serverCompressed") ? compressing : server,
        suite -> call(test, suite));
  }

  /** The service does not look at how a message came, so the suite does not probe for that. */
  @Test
  void takesCompressedRequests() throws Throwable {
    run(server, suite -> suite.clientCompressedUnary(false));
    run(server, suite -> suite.clientCompressedStreaming(false));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void soaks(boolean newChannels) throws Throwable {
    run(server, suite -> suite.soak(newChannels));
  }

  private interface Part {
    void run(Suite suite) throws Throwable;
  }

  private static void run(GrpcServer server, Part part) throws Throwable {
    for (int left = 2; ; left--) { // its deadlines of seconds are shorter than a pause may be
      Suite suite = new Suite(server.port());
      suite.setUp();
      try {
        part.run(suite);
        return;
      } catch (StatusRuntimeException e) {
        if (left == 0 || e.getStatus().getCode() != Status.Code.DEADLINE_EXCEEDED) {
          throw e;
        }
      } finally {
        suite.tearDown();
      }
    }
  }

  private static void call(Method method, Object target, Object... arguments) throws Throwable {
    try {
      method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private static final class Suite extends AbstractInteropTest {
    private final int port;

    Suite(int port) {
      this.port = port;
    }

    @Override
    protected ManagedChannelBuilder<?> createChannelBuilder() {
      return NettyChannelBuilder.forAddress("127.0.0.1", port)
          .usePlaintext()
          .flowControlWindow(TEST_FLOW_CONTROL_WINDOW)
          .maxInboundMessageSize(MAX_MESSAGE_SIZE);
    }

    /**
     * Sends large calls one after another from several threads, each by a new channel or by one.
     */
    void soak(boolean newChannels) throws Throwable {
      Class<?> client = Class.forName("io.grpc.testing.integration.SoakClient");
      Method soak =
          Arrays.stream(client.getMethods())
              .filter(method -> method.getName().equals("performSoakTest"))
              .findFirst()
              .orElseThrow();
      soak.setAccessible(true);
      Queue<ManagedChannel> made = new ConcurrentLinkedQueue<>();
      Function<ManagedChannel, ManagedChannel> next =
          used -> {
            if (!newChannels) {
              return used;
            }
            used.shutdownNow();
            ManagedChannel fresh = createChannel();
            made.add(fresh);
            return fresh;
          };
      int slowestMillis = 60_000;
      int patienceSeconds = 300;
      call(
          soak,
          null,
          "nereid",
          100,
          0,
          slowestMillis,
          0,
          patienceSeconds,
          271_828,
          314_159,
          4,
          channel,
          next);
      made.forEach(ManagedChannel::shutdownNow); // the suite leaves the last ones open
    }

    @Override
    protected int operationTimeoutMillis() {
      return 60_000;
    }

    /** The suite would read them from a server of its own. */
    @Override
    protected boolean metricsExpected() {
      return false;
    }
  }
}
