package io.nereid.server.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.NereidException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Restrictions and tokens as texts, without a server around them. */
class AccessControlTest {

  private static Optional<Refusal> check(
      AccessControl access, EndpointGroup group, Map<String, String> fields) {
    return access.check(group, fields::get);
  }

  @Test
  void nothingConfiguredIsOpen() {
    assertTrue(AccessControl.OPEN.isOpen());
    assertEquals(Set.of(), AccessControl.OPEN.fieldNames());
    assertEquals(Optional.empty(), check(AccessControl.OPEN, EndpointGroup.TRACE, Map.of()));
  }

  @Test
  void aRestrictedGroupWantsItsField() {
    AccessControl access =
        AccessControl.of(
            Restrictions.forHttp(List.of("health,model-config:Admin-Key=se=cret", "trace:t=1")),
            Optional.empty());
    assertEquals(Set.of("admin-key", "t"), access.fieldNames());
    Refusal refusal = check(access, EndpointGroup.HEALTH, Map.of()).orElseThrow();
    assertEquals(Refusal.Kind.RESTRICTED, refusal.kind());
    assertEquals("This API is restricted, expecting header 'Admin-Key'", refusal.message());
    assertFalse(check(access, EndpointGroup.MODEL_CONFIG, Map.of("admin-key", "se=cre")).isEmpty());
    assertTrue(check(access, EndpointGroup.MODEL_CONFIG, Map.of("admin-key", "se=cret")).isEmpty());
    assertTrue(check(access, EndpointGroup.INFERENCE, Map.of()).isEmpty());
  }

  @Test
  void overGrpcTheFieldHasAPrefix() {
    AccessControl access =
        AccessControl.of(Restrictions.forGrpc(List.of("inference:k=v")), Optional.empty());
    assertEquals(Set.of("triton-grpc-protocol-k"), access.fieldNames());
    assertEquals(
        "This protocol is restricted, expecting header 'triton-grpc-protocol-k'",
        check(access, EndpointGroup.INFERENCE, Map.of("k", "v")).orElseThrow().message());
    assertTrue(
        check(access, EndpointGroup.INFERENCE, Map.of("triton-grpc-protocol-k", "v")).isEmpty());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "hunter2",
        "health:hunter2",
        "health:=hunter2",
        ":k=hunter2",
        "health:hunter2=",
        "none:k=hunter2",
        "health,:k=hunter2",
        "health:a b=hunter2"
      })
  void wrongRestrictionsAreToldWithoutTheSecret(String text) {
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> Restrictions.forHttp(List.of(text)));
    assertTrue(e.getMessage().contains("expected"), e.getMessage());
    assertFalse(e.getMessage().contains("hunter2"), e.getMessage());
  }

  @Test
  void aGroupIsRestrictedOnce() {
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class,
            () -> Restrictions.forHttp(List.of("health,trace:a=b", "trace:c=d")));
    assertTrue(e.getMessage().contains("'trace' several times"), e.getMessage());
  }

  private static AccessControl tokens(Path directory, String text) throws IOException {
    Path file = directory.resolve("tokens");
    Files.writeString(file, text);
    return AccessControl.of(Restrictions.NONE, Optional.of(Tokens.open(file)));
  }

  @ParameterizedTest
  @CsvSource({
    "Bearer all.of-it, INFERENCE, ''",
    "bearer all.of-it, MODEL_REPOSITORY, ''",
    "Bearer some==, INFERENCE, ''",
    "Bearer some==, METADATA, ''",
    "Bearer some==, MODEL_REPOSITORY, NOT_GRANTED",
    "Bearer some, INFERENCE, UNAUTHENTICATED",
    "Bearer, INFERENCE, UNAUTHENTICATED",
    "all.of-it, INFERENCE, UNAUTHENTICATED",
    "Basic all.of-it, INFERENCE, UNAUTHENTICATED",
    "Bearer x, HEALTH, ''",
  })
  void tokensGrantGroups(
      String authorization, EndpointGroup group, String refused, @TempDir Path directory)
      throws IOException {
    AccessControl access =
        tokens(
            directory,
            """
            # who may do what
            all.of-it   # everything

              some==  inference,metadata
            """);
    Optional<Refusal> refusal = check(access, group, Map.of("authorization", authorization));
    assertEquals(refused, refusal.map(found -> found.kind().name()).orElse(""));
  }

  @Test
  void missingPathsAreToldToAnyTokenOnly(@TempDir Path directory) throws IOException {
    AccessControl access = tokens(directory, "t0 health");
    assertFalse(check(access, null, Map.of()).isEmpty());
    assertTrue(check(access, null, Map.of("authorization", "Bearer t0")).isEmpty());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "# nothing", "hunter2 none", "hunter2 health extra", "hunter2! health"})
  void wrongTokenFilesAreToldWithoutTheToken(String text, @TempDir Path directory) {
    NereidException e = assertThrows(NereidException.class, () -> tokens(directory, text));
    assertTrue(e.getMessage().contains("expected"), e.getMessage());
    assertFalse(e.getMessage().contains("hunter2"), e.getMessage());
  }
}
