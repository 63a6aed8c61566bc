package io.nereid.cli;

import static io.nereid.cli.KubernetesShape.at;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kubernetes.client.custom.Quantity;
import io.kubernetes.client.openapi.models.V1Affinity;
import io.kubernetes.client.openapi.models.V1Container;
import io.kubernetes.client.openapi.models.V1Deployment;
import io.kubernetes.client.openapi.models.V1LocalObjectReference;
import io.kubernetes.client.openapi.models.V1NetworkPolicy;
import io.kubernetes.client.openapi.models.V1ObjectMeta;
import io.kubernetes.client.openapi.models.V1PersistentVolumeClaim;
import io.kubernetes.client.openapi.models.V1PodDisruptionBudget;
import io.kubernetes.client.openapi.models.V1Service;
import io.kubernetes.client.openapi.models.V1Toleration;
import io.kubernetes.client.openapi.models.V1Volume;
import io.kubernetes.client.openapi.models.V2HorizontalPodAutoscaler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import picocli.CommandLine.ParseResult;

/** The manifests: of the published shape, of one piece, and understood by this server. */
class KubernetesTest {

  static final Path MANIFESTS = Path.of("..", "..", "docker", "kubernetes");

  /** Heap of a connection that has had a request and waits for the next, as measured. */
  private static final long IDLE_CONNECTION_BYTES = 51_000;

  private static final Map<String, Class<?>> SHAPES =
      Map.ofEntries(
          Map.entry("apps/v1 Deployment", V1Deployment.class),
          Map.entry("v1 Service", V1Service.class),
          Map.entry("v1 PersistentVolumeClaim", V1PersistentVolumeClaim.class),
          Map.entry("policy/v1 PodDisruptionBudget", V1PodDisruptionBudget.class),
          Map.entry("autoscaling/v2 HorizontalPodAutoscaler", V2HorizontalPodAutoscaler.class),
          Map.entry("networking.k8s.io/v1 NetworkPolicy", V1NetworkPolicy.class),
          Map.entry("serving.kserve.io/v1alpha1 ClusterServingRuntime", ServingRuntime.class),
          Map.entry("serving.kserve.io/v1beta1 InferenceService", InferenceService.class),
          Map.entry("keda.sh/v1alpha1 ScaledObject", ScaledObject.class),
          Map.entry("inference.networking.k8s.io/v1 InferencePool", InferencePool.class),
          Map.entry("gateway.networking.k8s.io/v1 HTTPRoute", HttpRoute.class));

  // The published fields of KServe's resources, by their names.

  record ServingRuntime(
      String apiVersion, String kind, V1ObjectMeta metadata, ServingRuntimeSpec spec) {}

  record ServingRuntimeSpec(
      List<ModelFormat> supportedModelFormats,
      Boolean multiModel,
      Boolean disabled,
      List<String> protocolVersions,
      List<V1Container> containers,
      List<V1Volume> volumes,
      Map<String, String> nodeSelector,
      V1Affinity affinity,
      List<V1Toleration> tolerations,
      Map<String, String> labels,
      Map<String, String> annotations,
      List<V1LocalObjectReference> imagePullSecrets,
      Boolean hostIPC) {}

  record ModelFormat(String name, String version, Boolean autoSelect, Integer priority) {}

  record InferenceService(String apiVersion, String kind, V1ObjectMeta metadata, Predicting spec) {}

  record Predicting(Predictor predictor) {}

  record Predictor(
      Integer minReplicas, Integer maxReplicas, Long canaryTrafficPercent, PredictorModel model) {}

  record PredictorModel(
      ModelFormat modelFormat, String protocolVersion, String runtime, String storageUri) {}

  // The objects of KEDA.

  record ScaledObject(
      String apiVersion, String kind, V1ObjectMeta metadata, ScaledObjectSpec spec) {}

  record ScaledObjectSpec(
      ScaleTarget scaleTargetRef,
      Integer pollingInterval,
      Integer initialCooldownPeriod,
      Integer cooldownPeriod,
      Integer idleReplicaCount,
      Integer minReplicaCount,
      Integer maxReplicaCount,
      List<ScaleTrigger> triggers) {}

  record ScaleTarget(String name, String apiVersion, String kind, String envSourceContainerName) {}

  record ScaleTrigger(
      String type,
      String name,
      Boolean useCachedMetrics,
      Map<String, String> metadata,
      String metricType) {}

  // The objects of the Gateway API and its Inference Extension.

  record InferencePool(String apiVersion, String kind, V1ObjectMeta metadata, PoolSpec spec) {}

  record PoolSpec(Selector selector, List<Port> targetPorts, PickerReference endpointPickerRef) {}

  record Selector(Map<String, String> matchLabels) {}

  record Port(Integer number) {}

  record PickerReference(String group, String kind, String name, Port port, String failureMode) {}

  record HttpRoute(String apiVersion, String kind, V1ObjectMeta metadata, RouteSpec spec) {}

  record RouteSpec(List<Reference> parentRefs, List<String> hostnames, List<RouteRule> rules) {}

  record RouteRule(String name, List<RouteMatch> matches, List<Reference> backendRefs) {}

  record RouteMatch(PathMatch path, String method) {}

  record PathMatch(String type, String value) {}

  record Reference(
      String group,
      String kind,
      String namespace,
      String name,
      String sectionName,
      Integer port,
      Integer weight) {}

  /** The parameters that the endpoint picker reads of a plug-in for metrics. */
  record Engine(
      String name,
      String queuedRequestsSpec,
      String runningRequestsSpec,
      String kvUsageSpec,
      String loraSpec,
      String cacheInfoSpec) {}

  private static final Map<?, ?> DEPLOYMENT = only("deployment.yaml");
  private static final Map<?, ?> RUNTIME = only("kserve/nereid-onnx.yaml");

  private static Map<?, ?> only(String file) {
    try {
      return KubernetesShape.read(MANIFESTS.resolve(file)).getFirst();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void everyManifestHasThePublishedShape() throws IOException {
    List<String> files = new ArrayList<>(List.of("kserve/example.yaml"));
    files.addAll(
        List.of(
            "kserve/nereid-tensorrt.yaml",
            "autoscaler-objective.yaml",
            "keda.yaml",
            "gateway/pool.yaml"));
    for (String kustomization : List.of("", "kserve/")) {
      for (Object resource :
          (List<?>) at(only(kustomization + "kustomization.yaml"), "resources")) {
        files.add(kustomization + resource);
      }
    }
    for (String file : files) {
      for (Map<?, ?> document : KubernetesShape.read(MANIFESTS.resolve(file))) {
        String kind = at(document, "apiVersion") + " " + at(document, "kind");
        assertTrue(SHAPES.containsKey(kind), () -> file + ": unknown " + kind);
        KubernetesShape.check(document, SHAPES.get(kind));
      }
    }
    assertEquals(12, files.size(), files.toString());
  }

  @Test
  void theChecksFindWhatIsWrong() {
    Map<String, Object> port = new HashMap<>(Map.of("containerPort", 8000));
    Map<String, Object> container = Map.of("name", "nereid", "ports", List.of(port));
    KubernetesShape.check(container, V1Container.class);
    port.put("containerPort", "8000");
    assertThrows(AssertionError.class, () -> KubernetesShape.check(container, V1Container.class));
    port.remove("containerPort");
    assertThrows(AssertionError.class, () -> KubernetesShape.check(container, V1Container.class));
    port.put("containerPort", 8000);
    port.put("nam", "http");
    assertThrows(AssertionError.class, () -> KubernetesShape.check(container, V1Container.class));
  }

  @Test
  void requirementsOfKServeAreMet() {
    assertEquals(List.of("onnx 1"), formats(RUNTIME));
    assertEquals(
        List.of("tensorrt 10", "tensorrt 11"), formats(only("kserve/nereid-tensorrt.yaml")));
    assertEquals(List.of("v2", "grpc-v2"), at(RUNTIME, "spec", "protocolVersions"));
    assertEquals("kserve-container", at(RUNTIME, "spec", "containers", 0, "name"));
    Map<?, ?> service = only("kserve/example.yaml");
    assertEquals(
        at(RUNTIME, "metadata", "name"), at(service, "spec", "predictor", "model", "runtime"));
    // Where KServe puts the models, and the ports that it sends requests to.
    ParseResult parsed = parse(at(RUNTIME, "spec", "containers", 0, "args"));
    assertEquals(List.of("/mnt/models"), parsed.matchedOptionValue("--repository", null));
    assertEquals(8080, parsed.<Integer>matchedOptionValue("--http-port", null));
    assertEquals(9000, parsed.<Integer>matchedOptionValue("--grpc-port", null));
  }

  /** The formats of a runtime, none of which it may take from a cluster's other runtimes. */
  private static List<String> formats(Map<?, ?> runtime) {
    List<String> formats = new ArrayList<>();
    for (Object format : (List<?>) at(runtime, "spec", "supportedModelFormats")) {
      assertEquals(false, at(format, "autoSelect"));
      formats.add(at(format, "name") + " " + at(format, "version"));
    }
    return formats;
  }

  /** The plug-ins of the endpoint picker, out of the values for its chart. */
  static List<?> pickerPlugins() throws IOException {
    return (List<?>) at(pickerConfiguration(), "plugins");
  }

  private static Object pickerConfiguration() throws IOException {
    Object chart = at(only("gateway/epp-values.yaml"), "inferenceExtension");
    String text =
        at(chart, "pluginsCustomConfig", at(chart, "pluginsConfigFile").toString()).toString();
    return new Load(LoadSettings.builder().build()).loadFromString(text);
  }

  @Test
  void thePickerFindsThePodsTheirMetricsAndItsPlugins() throws IOException {
    Object pool = only("gateway/pool.yaml");
    Object pod = at(DEPLOYMENT, "spec", "template");
    assertEquals(at(pod, "metadata", "labels"), at(pool, "spec", "selector", "matchLabels"));
    List<?> ports = (List<?>) at(pod, "spec", "containers", 0, "ports");
    assertEquals(at(ports.get(0), "containerPort"), at(pool, "spec", "targetPorts", 0, "number"));
    Object chart = at(only("gateway/epp-values.yaml"), "inferenceExtension");
    assertEquals(
        at(ports.get(2), "containerPort"), at(chart, "flags", "model-server-metrics-port"));
    Set<Object> types = new HashSet<>();
    for (Object plugin : pickerPlugins()) {
      types.add(at(plugin, "type"));
    }
    Object configuration = pickerConfiguration();
    for (Object used : (List<?>) at(configuration, "schedulingProfiles", 0, "plugins")) {
      assertTrue(types.contains(at(used, "pluginRef")), used.toString());
    }
    Object source = at(configuration, "dataLayer", "sources", 0);
    assertTrue(types.contains(at(source, "pluginRef")));
    assertTrue(types.contains(at(source, "extractors", 0, "pluginRef")));
    for (Object engine : (List<?>) at(pickerPlugins().get(3), "parameters", "engineConfigs")) {
      KubernetesShape.check(engine, Engine.class);
    }
  }

  @Test
  void theServerUnderstandsItsArguments() throws IOException {
    parse(at(DEPLOYMENT, "spec", "template", "spec", "containers", 0, "args"));
    Map<?, ?> compose =
        KubernetesShape.read(Path.of("..", "..", "docker", "compose.yaml")).getFirst();
    parse(at(compose, "services", "nereid", "command"));
    Map<?, ?> tensorrt = only("kserve/nereid-tensorrt.yaml");
    parse(at(tensorrt, "spec", "containers", 0, "args"));
    // What never ran must stay out of the kustomization.
    assertEquals(List.of("nereid-onnx.yaml"), at(only("kserve/kustomization.yaml"), "resources"));
  }

  private static ParseResult parse(Object arguments) {
    String[] args = ((List<?>) arguments).toArray(String[]::new);
    return Main.commandLine().parseArgs(args).subcommand();
  }

  @Test
  void thePatchForAStoreFits() throws IOException {
    List<Map<?, ?>> patches = KubernetesShape.read(MANIFESTS.resolve("object-store.yaml"));
    assertEquals(2, patches.size());
    Object pods = KubernetesShape.patched(DEPLOYMENT, patches.getFirst());
    KubernetesShape.check(pods, V1Deployment.class);
    Object policy = KubernetesShape.patched(only("network.yaml"), patches.getLast());
    KubernetesShape.check(policy, V1NetworkPolicy.class);
    assertEquals(443, at(policy, "spec", "egress", 0, "ports", 0, "port"));
    Object pod = at(pods, "spec", "template", "spec");
    Object container = at(pod, "containers", 0);
    ParseResult parsed = parse(at(container, "args"));
    assertEquals(List.of("s3://bucket/models"), parsed.matchedPositionalValue(0, null));
    Map<Object, Object> mounts = new HashMap<>();
    for (Object mount : (List<?>) at(container, "volumeMounts")) {
      mounts.put(at(mount, "name"), at(mount, "mountPath"));
    }
    assertEquals(
        parsed.<Path>matchedOptionValue("--model-cache-directory", null).toString(),
        mounts.get("cache"));
    Set<Object> volumes = new HashSet<>();
    ((List<?>) at(pod, "volumes")).forEach(volume -> volumes.add(at(volume, "name")));
    assertEquals(Set.of("cache", "settings", "tmp"), volumes);
    assertEquals(volumes, mounts.keySet());
  }

  @Test
  void podsAreAsRestrictedAsTheProfileOfThatNameWants() {
    Object pod = at(DEPLOYMENT, "spec", "template", "spec");
    assertEquals(true, at(pod, "securityContext", "runAsNonRoot"));
    assertEquals("RuntimeDefault", at(pod, "securityContext", "seccompProfile", "type"));
    for (Object container :
        List.of(at(pod, "containers", 0), at(RUNTIME, "spec", "containers", 0))) {
      Object context = at(container, "securityContext");
      assertEquals(false, at(context, "allowPrivilegeEscalation"));
      assertEquals(true, at(context, "readOnlyRootFilesystem"));
      assertEquals(List.of("ALL"), at(context, "capabilities", "drop"));
    }
    assertEquals(true, at(RUNTIME, "spec", "containers", 0, "securityContext", "runAsNonRoot"));
  }

  @Test
  void theSameUserIsInTheImageAndInTheManifests() throws IOException {
    String dockerfile = Files.readString(Path.of("..", "..", "docker", "Dockerfile"));
    int user = (Integer) at(DEPLOYMENT, "spec", "template", "spec", "securityContext", "runAsUser");
    assertTrue(dockerfile.contains("\nUSER " + user + ":" + user + "\n"), dockerfile);
    assertEquals(user, at(RUNTIME, "spec", "containers", 0, "securityContext", "runAsUser"));
  }

  @Test
  void aPodIsLeftTheTimeThatItNeedsToStop() {
    Object pod = at(DEPLOYMENT, "spec", "template", "spec");
    Map<?, ?> settings = only("nereid.yaml");
    int sleepSeconds =
        (Integer) at(pod, "containers", 0, "lifecycle", "preStop", "sleep", "seconds");
    int exitSeconds = (Integer) at(settings, "exit-timeout-secs");
    int graceSeconds = (Integer) at(pod, "terminationGracePeriodSeconds");
    assertTrue(graceSeconds >= sleepSeconds + exitSeconds + 5, "grace of " + graceSeconds + " s");
  }

  @Test
  void theMemoryOfAPodIsEnoughForItsSettings() {
    Map<?, ?> settings = only("nereid.yaml");
    Object container = at(DEPLOYMENT, "spec", "template", "spec", "containers", 0);
    long limit =
        Quantity.fromString((String) at(container, "resources", "limits", "memory"))
            .getNumber()
            .longValueExact();
    long pool = ((Number) at(settings, "pinned-memory-pool-byte-size")).longValue();
    String cache = (String) at(settings, "cache-config");
    long cacheBytes = Long.parseLong(cache.substring(cache.indexOf('=') + 1));
    long heap = limit / 4; // the JVM's default
    assertTrue(pool + cacheBytes + heap <= limit * 3 / 4, "nothing is left for models");
    int connections = (Integer) at(settings, "http-max-connections");
    assertTrue(connections * IDLE_CONNECTION_BYTES <= heap / 2, "connections fill the heap");
  }

  @Test
  void labelsPortsAndNamesMeet() throws IOException {
    Object labels = at(DEPLOYMENT, "spec", "template", "metadata", "labels");
    assertEquals(labels, at(DEPLOYMENT, "spec", "selector", "matchLabels"));
    assertEquals(labels, at(only("disruption.yaml"), "spec", "selector", "matchLabels"));
    assertEquals(labels, at(only("network.yaml"), "spec", "podSelector", "matchLabels"));
    assertEquals("nereid", at(only("autoscaler.yaml"), "spec", "scaleTargetRef", "name"));
    List<Object> ports = new ArrayList<>();
    Object pod = at(DEPLOYMENT, "spec", "template", "spec");
    for (Object port : (List<?>) at(pod, "containers", 0, "ports")) {
      ports.add(at(port, "name"));
    }
    for (Map<?, ?> service : KubernetesShape.read(MANIFESTS.resolve("service.yaml"))) {
      assertEquals(labels, at(service, "spec", "selector"));
      for (Object port : (List<?>) at(service, "spec", "ports")) {
        assertTrue(ports.contains(at(port, "targetPort")), port.toString());
      }
    }
    Object volumes = at(pod, "volumes");
    assertEquals(
        at(only("models.yaml"), "metadata", "name"),
        at(volumes, 0, "persistentVolumeClaim", "claimName"));
    assertEquals(
        at(only("kustomization.yaml"), "configMapGenerator", 0, "name"),
        at(volumes, 1, "configMap", "name"));
    assertFalse((Boolean) at(pod, "enableServiceLinks"), "NEREID_PORT would look like an option");
  }
}
