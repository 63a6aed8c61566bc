package com.example.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.test.KafkaClusterTestKit;
import org.apache.kafka.common.test.TestKitNodes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The service on a Kafka of this process: it is killed, and has too much to do. */
class KafkaIT {

  private static final Path MODELS = Path.of(System.getProperty("kafka.models"));
  private static final int KILLS = Integer.getInteger("kafka.kills", 3);
  private static final int PARTITIONS = 4;
  private static final int IMAGES = 10_000;

  private final List<Process> services = new ArrayList<>();
  private List<String> lines;
  private KafkaClusterTestKit kafka;
  private Admin admin;
  private KafkaConsumer<String, String> reader;

  @BeforeEach
  void start() throws Exception {
    lines = Files.readAllLines(Path.of(System.getProperty("kafka.data")));
    kafka =
        new KafkaClusterTestKit.Builder(
                new TestKitNodes.Builder()
                    .setCombined(true)
                    .setNumBrokerNodes(1)
                    .setNumControllerNodes(1)
                    .build())
            .setConfigProp("group.initial.rebalance.delay.ms", "0")
            .setConfigProp("offsets.topic.num.partitions", "1")
            .setConfigProp("offsets.topic.replication.factor", "1")
            .setConfigProp("transaction.state.log.num.partitions", "1")
            .setConfigProp("transaction.state.log.replication.factor", "1")
            .setConfigProp("transaction.state.log.min.isr", "1")
            .build();
    kafka.format();
    kafka.startup();
    kafka.waitForReadyBrokers();
    admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()));
    admin
        .createTopics(
            Stream.of(ScoreTopic.IMAGES, ScoreTopic.DIGITS, ScoreTopic.REFUSED)
                .map(topic -> new NewTopic(topic, PARTITIONS, (short) 1))
                .toList())
        .all()
        .get();
    reader =
        new KafkaConsumer<>(
            Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, kafka.bootstrapServers(),
                ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed"),
            new StringDeserializer(),
            new StringDeserializer());
    // A broker tells of partitions before it leads them, and a producer that finds out by a refusal
    // may keep its first batches until they expire. The reader asks until all are led.
    reader.endOffsets(partitions(ScoreTopic.IMAGES));
    reader.assign(
        Stream.of(ScoreTopic.DIGITS, ScoreTopic.REFUSED)
            .flatMap(topic -> partitions(topic).stream())
            .toList());
    reader.seekToBeginning(reader.assignment());
  }

  private static List<TopicPartition> partitions(String topic) {
    return IntStream.range(0, PARTITIONS).mapToObj(i -> new TopicPartition(topic, i)).toList();
  }

  @AfterEach
  void stop() throws Exception {
    services.forEach(Process::destroyForcibly);
    reader.close();
    admin.close();
    kafka.close();
  }

  /** Sends images, whose keys are their numbers, and something else; fails if Kafka lost one. */
  private void send(int images) throws Exception {
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", kafka.bootstrapServers()),
            new StringSerializer(),
            new StringSerializer())) {
      for (int id = 0; id < images; id++) {
        String line = lines.get(id % lines.size());
        sent.add(producer.send(new ProducerRecord<>(ScoreTopic.IMAGES, "" + id, line)));
      }
      sent.add(producer.send(new ProducerRecord<>(ScoreTopic.IMAGES, "none", "no image")));
    }
    for (Future<RecordMetadata> each : sent) {
      each.get();
    }
  }

  /** Waits until services have answered so many records; fails when one of them has ended. */
  private void await(long records, BooleanSupplier served) throws Exception {
    while (answered() < records) {
      assertTrue(served.getAsBoolean(), "a service ended");
    }
  }

  private long answered() throws Exception {
    var committed = admin.listConsumerGroupOffsets(ScoreTopic.GROUP);
    var ends = committed.partitionsToOffsetAndMetadata().get().values();
    return ends.stream().mapToLong(OffsetAndMetadata::offset).sum();
  }

  private List<String> answers() {
    List<String> answers = new ArrayList<>();
    Map<TopicPartition, Long> ends = reader.endOffsets(reader.assignment());
    while (ends.keySet().stream().anyMatch(each -> reader.position(each) < ends.get(each))) {
      var came = reader.poll(Duration.ofMillis(50));
      came.forEach(record -> answers.add(record.key() + " " + record.value()));
    }
    return answers.stream().sorted().toList();
  }

  /** The answers as the model itself gives them, so many times each, sorted. */
  private List<String> expected(int images, int times) {
    List<String> digits = new ArrayList<>();
    try (Nereid nereid = Nereid.open(MODELS)) {
      for (String line : lines) {
        Tensor image = Tensor.ofFloats(ScoreTopic.pixels(line), 1, 8, 8);
        try (var request = nereid.model("digits").newRequest().input("image", image);
            var response = request.infer()) {
          digits.add("" + ScoreTopic.best(response.output("scores").toFloatArray(), 0));
        }
      }
    }
    List<String> all = new ArrayList<>(Collections.nCopies(times, "none no image"));
    for (int id = 0; id < images; id++) {
      all.addAll(Collections.nCopies(times, id + " " + digits.get(id % digits.size())));
    }
    return all.stream().sorted().toList();
  }

  private Process service(String instance) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            ScoreTopic.class.getName(),
            kafka.bootstrapServers(),
            MODELS.toString(),
            instance)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  @Test
  void killedServicesLoseAndDoubleNothing() throws Exception {
    services.addAll(List.of(service("a"), service("b")));
    BooleanSupplier served = () -> services.stream().allMatch(Process::isAlive);
    for (int kill = 0; kill < KILLS; kill++) {
      send(IMAGES);
      await(kill * (IMAGES + 1) + IMAGES / 10, served);
      int killed = kill % 2;
      services.get(killed).destroyForcibly().waitFor();
      assertTrue(answered() < (kill + 1) * (IMAGES + 1), "there was something left to do");
      services.set(killed, service(killed == 0 ? "a" : "b"));
      await((kill + 1) * (IMAGES + 1), served);
    }
    for (Process service : services) {
      service.destroy();
      service.waitFor();
    }
    assertEquals(expected(IMAGES, KILLS), answers());
  }

  @Test
  void partitionsArePausedWhileTheModelHasEnoughToDo() throws Exception {
    send(5000);
    try (Nereid nereid = Nereid.open(MODELS);
        ScoreTopic service = new ScoreTopic(nereid, kafka.bootstrapServers(), "one", 2)) {
      CompletableFuture<Void> running = CompletableFuture.runAsync(service);
      await(5001, () -> !running.isDone());
      service.stop();
      running.join();
      assertTrue(service.pauses() > 0, "5000 images are more than two batches");
      // A poll has four full batches at most, and the end of one for each partition.
      assertTrue(service.most() < 2 + 4 + PARTITIONS, () -> "batches: " + service.most());
    }
    assertEquals(expected(5000, 1), answers());
  }
}
