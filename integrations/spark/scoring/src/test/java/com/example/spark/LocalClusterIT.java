package com.example.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.Nereid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.LongAccumulator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On two executors, each a JVM of its own, started from a home of Spark as on a cluster. */
class LocalClusterIT {

  private static final Path EXAMPLES = Path.of("..", "..");
  private static final int TIMES = 40;

  @TempDir private Path directory;

  private final List<float[]> images;
  private final int[] expected;

  LocalClusterIT() throws IOException {
    images = Images.read(EXAMPLES.resolve("data/digits.csv"));
    expected = new int[images.size()];
    try (Nereid nereid = Nereid.open(EXAMPLES.resolve("models"))) {
      Model model = nereid.model(Digits.NAME);
      assertEquals(images.size(), Throughput.inProcess(model, images, 1, expected));
    }
  }

  @Test
  void allWaysOfScoringAgreeAndEachExecutorHasOneRuntime() throws Exception {
    Path models = Cluster.archive(EXAMPLES.resolve("models"), directory.resolve("models.zip"));
    Path reports = Files.createDirectory(directory.resolve("reports"));
    List<Path> jars;
    try (Stream<Path> files = Files.list(Path.of("target", "jars"))) {
      jars = files.map(Path::toAbsolutePath).toList();
    }
    long count = (long) images.size() * TIMES;
    try (SparkSession spark = Cluster.open("local-cluster[2,1,1024]", jars, models, reports)) {
      Path plain = directory.resolve("plain");
      Images.write(spark, images, TIMES, 4, false, plain);
      check(
          Images.load(spark, plain)
              .mapPartitions(new ScoreRows(), Encoders.row(Cluster.SCORED))
              .collectAsList());
      checkColumns(spark, plain, count, 0);

      Path dictionary = directory.resolve("dictionary");
      Images.write(spark, images, TIMES, 4, true, dictionary);
      checkColumns(spark, dictionary, 0, count);
    }
    checkExecutors(reports);
  }

  /**
   * In memory that Spark's reader filled, nothing is copied; entries of a dictionary have to be.
   */
  private void checkColumns(SparkSession spark, Path from, long lentRows, long copiedRows) {
    LongAccumulator lent = spark.sparkContext().longAccumulator();
    LongAccumulator copied = spark.sparkContext().longAccumulator();
    check(
        ColumnarScan.of(Images.load(spark, from))
            .mapPartitions(new ScoreColumns(lent, copied))
            .collect());
    assertEquals(lentRows, lent.value());
    assertEquals(copiedRows, copied.value());
  }

  private void check(List<Row> scored) {
    Set<Long> ids = new HashSet<>();
    for (Row row : scored) {
      long id = row.getLong(0);
      assertEquals(expected[(int) (id % images.size())], row.getInt(1), "image " + id);
      assertTrue(ids.add(id), "image " + id + " twice");
    }
    assertEquals((long) images.size() * TIMES, ids.size());
  }

  /**
   * Two processes, neither of them this one; each opened one runtime and closed it with nothing
   * left.
   */
  private static void checkExecutors(Path reports) throws Exception {
    List<Path> executors;
    try (Stream<Path> files = Files.list(reports)) {
      executors = files.toList();
    }
    assertEquals(2, executors.size(), executors.toString());
    for (Path executor : executors) {
      long process = Long.parseLong(executor.getFileName().toString());
      assertNotEquals(ProcessHandle.current().pid(), process);
      Optional<ProcessHandle> running = ProcessHandle.of(process);
      if (running.isPresent()) {
        running.get().onExit().get(60, TimeUnit.SECONDS);
      }
      assertEquals("opened\nclosed, buffers in use: 0\n", Files.readString(executor));
    }
  }
}
