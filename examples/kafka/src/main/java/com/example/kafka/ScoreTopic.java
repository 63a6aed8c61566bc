package com.example.kafka;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.tensor.Tensor;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A service that tells which digits images show: it reads images from one topic and writes digits
 * to another, each exactly once, also when it is killed. One thread runs it; {@link #stop} may be
 * called by any.
 *
 * <p>Images go to the model in batches, of which some are under way at a time. A transaction
 * carries the answers of batches that are done, and how far they have been read. So a batch whose
 * transaction was not committed is read again by the next owner of its partition. Partitions are
 * paused while the model has enough to do.
 */
public final class ScoreTopic implements Runnable, AutoCloseable {

  static final String IMAGES = "images";
  static final String DIGITS = "digits";

  /** Gets what is no image. */
  static final String REFUSED = "refused";

  static final String GROUP = "score-digits";
  private static final int PIXELS = 64;
  private static final int DIGIT_COUNT = 10;
  private static final Duration WHILE_BUSY = Duration.ofMillis(1);
  private static final Duration WHILE_IDLE = Duration.ofSeconds(1);
  private static final Duration CLOSING = Duration.ofSeconds(30);

  private final Model model;
  private final int rows; // of a batch, at most
  private final int mostBatches;
  private final KafkaConsumer<String, String> consumer;
  private final KafkaProducer<String, String> producer;
  private final Deque<Batch> underWay = new ArrayDeque<>(); // the oldest first
  private int most;
  private long pauses;

  /** Records of one partition that are with the model: where they end, and what they get. */
  private record Batch(
      TopicPartition partition,
      OffsetAndMetadata end,
      CompletableFuture<List<ProducerRecord<String, String>>> answers) {}

  /**
   * Connects.
   *
   * @param instance a name that no other instance has, and that this one keeps when it is started
   *     again: so it ends the transaction of the one that was killed, and gets its partitions
   * @param mostBatches that are with the model before partitions are paused
   */
  ScoreTopic(Nereid nereid, String servers, String instance, int mostBatches) {
    this.mostBatches = mostBatches;
    model = nereid.model("digits");
    rows = Math.toIntExact(model.spec().maxBatchSize());
    producer =
        new KafkaProducer<>(
            Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, servers,
                ProducerConfig.TRANSACTIONAL_ID_CONFIG, GROUP + "-" + instance),
            new StringSerializer(),
            new StringSerializer());
    consumer =
        new KafkaConsumer<>(
            Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, servers,
                ConsumerConfig.GROUP_ID_CONFIG, GROUP,
                ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, instance,
                ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed",
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest",
                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false,
                ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 4 * rows),
            new StringDeserializer(),
            new StringDeserializer());
  }

  /** Takes Kafka's servers, a model repository, and the name of this instance. */
  public static void main(String[] args) {
    try (Nereid nereid = Nereid.open(Path.of(args[1]));
        ScoreTopic service = new ScoreTopic(nereid, args[0], args[2], 8)) {
      Thread main = Thread.currentThread();
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(
                  () -> {
                    service.stop();
                    try {
                      main.join();
                    } catch (InterruptedException e) {
                      return; // the JVM does not wait any longer
                    }
                  }));
      service.run();
    }
  }

  /** Runs until it is stopped. A failure of Kafka or the model ends it, too: start it again. */
  @Override
  public void run() {
    producer.initTransactions();
    consumer.subscribe(List.of(IMAGES), new LostPartitions());
    try {
      while (true) {
        read();
        answer();
      }
    } catch (WakeupException e) {
      return; // what is under way is read again by the next one
    }
  }

  void stop() {
    consumer.wakeup();
  }

  /** Gives what came to the model, and pauses all partitions if that is enough. */
  private void read() {
    ConsumerRecords<String, String> came =
        consumer.poll(underWay.isEmpty() ? WHILE_IDLE : WHILE_BUSY);
    for (TopicPartition partition : came.partitions()) {
      List<ConsumerRecord<String, String>> records = came.records(partition);
      for (int from = 0; from < records.size(); from += rows) {
        List<ConsumerRecord<String, String>> batch =
            records.subList(from, Math.min(records.size(), from + rows));
        OffsetAndMetadata end = new OffsetAndMetadata(batch.getLast().offset() + 1);
        underWay.add(new Batch(partition, end, score(batch)));
      }
    }
    most = Math.max(most, underWay.size());
    if (underWay.size() >= mostBatches) {
      pauses += consumer.paused().isEmpty() ? 1 : 0;
      consumer.pause(consumer.assignment()); // it is still polled, and so stays in its group
    }
  }

  /** Asks the model about the images of a batch; the rest is refused. */
  private CompletableFuture<List<ProducerRecord<String, String>>> score(
      List<ConsumerRecord<String, String>> records) {
    List<float[]> images = records.stream().map(record -> pixels(record.value())).toList();
    int count = (int) images.stream().filter(image -> image.length > 0).count();
    if (count == 0) {
      return CompletableFuture.completedFuture(answers(records, images, new float[0]));
    }
    float[] all = new float[count * PIXELS];
    int at = 0;
    for (float[] image : images) {
      System.arraycopy(image, 0, all, at, image.length);
      at += image.length;
    }
    InferRequest request = model.newRequest().input("image", Tensor.ofFloats(all, count, 8, 8));
    return request
        .inferAsync()
        .thenApply(
            response -> {
              try (response) {
                return answers(records, images, response.output("scores").toFloatArray());
              }
            })
        .whenComplete((answers, failure) -> request.close());
  }

  private static List<ProducerRecord<String, String>> answers(
      List<ConsumerRecord<String, String>> records, List<float[]> images, float[] scores) {
    List<ProducerRecord<String, String>> answers = new ArrayList<>();
    int from = 0;
    for (int i = 0; i < records.size(); i++) {
      ConsumerRecord<String, String> record = records.get(i);
      if (images.get(i).length == 0) {
        answers.add(new ProducerRecord<>(REFUSED, record.key(), record.value()));
      } else {
        String digit = Integer.toString(best(scores, from));
        answers.add(new ProducerRecord<>(DIGITS, record.key(), digit));
        from += DIGIT_COUNT;
      }
    }
    return answers;
  }

  /** The pixels of a line such as those of examples/data/digits.csv; none if it is no such line. */
  static float[] pixels(String line) {
    String[] values = line.split(",");
    if (values.length != 1 + PIXELS) {
      return new float[0];
    }
    float[] pixels = new float[PIXELS];
    try {
      for (int i = 0; i < PIXELS; i++) {
        pixels[i] = Float.parseFloat(values[1 + i]);
      }
    } catch (NumberFormatException e) {
      return new float[0];
    }
    return pixels;
  }

  /** The digit that has the highest of ten scores. */
  static int best(float[] scores, int from) {
    int best = 0;
    for (int i = 1; i < DIGIT_COUNT; i++) {
      if (scores[from + i] > scores[from + best]) {
        best = i;
      }
    }
    return best;
  }

  /** Writes the answers of the oldest batches, as far as they are done, and goes on reading. */
  private void answer() {
    if (!underWay.isEmpty() && underWay.peek().answers().isDone()) {
      producer.beginTransaction();
      try {
        Map<TopicPartition, OffsetAndMetadata> ends = new HashMap<>();
        while (!underWay.isEmpty() && underWay.peek().answers().isDone()) {
          Batch batch = underWay.remove();
          batch.answers().join().forEach(producer::send);
          ends.put(batch.partition(), batch.end());
        }
        producer.sendOffsetsToTransaction(ends, consumer.groupMetadata());
        producer.commitTransaction();
      } catch (KafkaException e) { // such as while partitions change hands
        System.getLogger("ScoreTopic").log(System.Logger.Level.WARNING, "reading again", e);
        producer.abortTransaction(); // fails where another instance has this one's name
        rewind();
      }
    }
    if (underWay.size() <= mostBatches / 2) {
      consumer.resume(consumer.paused());
    }
  }

  /** Reads again what no transaction has committed. */
  private void rewind() {
    underWay.clear();
    consumer
        .committed(consumer.assignment())
        .forEach(
            (partition, end) -> {
              if (end == null) {
                consumer.seekToBeginning(List.of(partition));
              } else {
                consumer.seek(partition, end);
              }
            });
  }

  /** The most batches that were with the model at a time. */
  int most() {
    return most;
  }

  /** The number of times that partitions were paused. */
  long pauses() {
    return pauses;
  }

  @Override
  public void close() {
    consumer.close();
    producer.close(CLOSING); // without it, for a broker that is gone for ever
  }

  /** Drops what belongs to partitions that went to another instance, which reads it again. */
  private final class LostPartitions implements ConsumerRebalanceListener {
    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
      underWay.removeIf(batch -> partitions.contains(batch.partition()));
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {}
  }
}
