package io.nereid.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.NereidOptions;
import io.nereid.model.RepositoryOptions;
import io.nereid.recording.RecordingOptions;
import io.nereid.recording.ShadowOptions;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Restrictions;
import io.nereid.server.grpc.GrpcCompression;
import io.nereid.server.grpc.GrpcKeepAlive;
import io.nereid.server.grpc.GrpcLimits;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.ConsoleProvider;
import io.nereid.server.http.HttpLimits;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.log.AccessLog;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import io.nereid.server.metrics.MetricsConfig;
import io.nereid.server.metrics.MetricsOptions;
import io.nereid.server.options.RecordCopy;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.shared.ServerState;
import io.nereid.server.tls.ServerTlsOptions;
import io.nereid.server.trace.OtlpOptions;
import io.nereid.server.trace.TraceLevel;
import io.nereid.server.trace.TraceMode;
import io.nereid.server.trace.TraceOptions;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The records of options: a changed copy differs in what was changed, and in nothing else. */
class OptionsTest {

  /** Options are compared, and no server starts with them. */
  private record UnopenedConsole() implements ConsoleProvider {

    @Override
    public String path() {
      return "/7/";
    }

    @Override
    public Pages open(ServerState state) {
      throw new AssertionError("no server was to start");
    }
  }

  /** One that each of them can be changed into. */
  private static Object other(Class<?> type, Object now, LogSettings log) {
    return switch (type.getSimpleName()) {
      case "boolean" -> !(boolean) now;
      case "int" -> (int) now + 1;
      case "long" -> (long) now + 1;
      case "String" -> now + "x";
      case "Duration" -> ((Duration) now).plusSeconds(1);
      case "InetAddress" -> InetAddress.ofLiteral("127.0.0.7");
      case "Set" -> Set.of("https://app.example");
      case "List" -> List.of(0.25);
      case "HttpLimits" -> HttpLimits.DEFAULT.withConnectionCount(7);
      case "GrpcLimits" -> GrpcLimits.DEFAULT.withConnectionCount(7);
      case "GrpcKeepAlive" -> RecordCopy.with(GrpcKeepAlive.DEFAULT, "pingsWithoutCalls", true);
      case "GrpcCompression" -> GrpcCompression.LOW;
      case "AccessControl" -> AccessControl.of(Restrictions.NONE, Optional.empty());
      case "HeaderForwarding" -> new HeaderForwarding("x");
      case "ServerTlsOptions" -> ServerTlsOptions.of(Path.of("c"), Path.of("k"));
      case "ConsoleProvider" -> new UnopenedConsole();
      case "HttpOptions" -> HttpOptions.DEFAULT.withPort(7);
      case "GrpcOptions" -> GrpcOptions.DEFAULT;
      case "MetricsOptions" -> MetricsOptions.DEFAULT;
      case "MetricsConfig" -> MetricsConfig.DEFAULT.withCounters(false);
      case "TraceOptions" -> TraceOptions.OFF.withRate(7);
      case "TraceLevel[]" -> new TraceLevel[] {TraceLevel.TIMESTAMPS};
      case "TraceMode" -> TraceMode.OPENTELEMETRY;
      case "OtlpOptions" ->
          new OtlpOptions(URI.create("http://other"), Map.of(), 7, Duration.ZERO, 7);
      case "RepositoryOptions" -> RepositoryOptions.builder().namespacing(true).build();
      case "NereidOptions" -> NereidOptions.builder().pageLockPool(false).build();
      case "RecordingOptions" -> RecordingOptions.to(Path.of("r"));
      case "ShadowOptions" -> new ShadowOptions(0.5, 1 << 20, Map.of());
      case "LogSettings" -> log;
      case "AccessLog" -> AccessLog.toLog(log);
      default -> throw new AssertionError("no other value of " + type);
    };
  }

  static Stream<Arguments> records() {
    return Stream.of(
        Arguments.of(ServerOptions.DEFAULT, true),
        Arguments.of(HttpOptions.DEFAULT, true),
        Arguments.of(HttpLimits.DEFAULT, false),
        Arguments.of(GrpcOptions.DEFAULT, true),
        Arguments.of(GrpcLimits.DEFAULT, false),
        Arguments.of(MetricsOptions.DEFAULT, true),
        Arguments.of(MetricsConfig.DEFAULT, true),
        Arguments.of(TraceOptions.OFF.withFile("f"), true));
  }

  @ParameterizedTest
  @MethodSource("records")
  void aCopyDiffersInOneComponent(Record record, boolean whole) throws Exception {
    Set<String> changed = new TreeSet<>();
    try (LogSettings log = LogSettings.install(LogValues.DEFAULT, Optional.empty())) {
      for (Method with : record.getClass().getMethods()) {
        if (!with.getName().matches("with[A-Z].*") || with.getParameterCount() != 1) {
          continue;
        }
        String name = with.getName().substring(4, 5).toLowerCase() + with.getName().substring(5);
        changed.add(name);
        Object now = record.getClass().getMethod(name).invoke(record);
        Object value = other(with.getParameterTypes()[0], now, log);
        Object copy = with.invoke(record, value);
        for (RecordComponent component : record.getClass().getRecordComponents()) {
          Object before = component.getAccessor().invoke(record);
          Object after = component.getAccessor().invoke(copy);
          if (component.getName().equals(name)) {
            assertNotEquals(before, after, name);
            Object held = after instanceof Optional<?> optional ? optional.orElseThrow() : after;
            assertEquals(value instanceof Object[] many ? Set.of(many) : value, held, name);
          } else {
            assertEquals(before, after, component.getName() + " after " + with.getName());
          }
        }
      }
    }
    Set<String> all =
        Arrays.stream(record.getClass().getRecordComponents())
            .map(RecordComponent::getName)
            .collect(Collectors.toCollection(TreeSet::new));
    if (whole) {
      assertEquals(all, changed, "components that can be changed");
    } else {
      assertTrue(!changed.isEmpty() && all.containsAll(changed), changed.toString());
    }
  }

  @Test
  void aCopyIsChecked() {
    IllegalArgumentException wrong =
        assertThrows(IllegalArgumentException.class, () -> HttpOptions.DEFAULT.withPort(70_000));
    assertEquals("port must be 0 to 65535, got 70000", wrong.getMessage());
    assertThrows(
        IllegalArgumentException.class, () -> RecordCopy.with(HttpOptions.DEFAULT, "prot", 7));
  }
}
