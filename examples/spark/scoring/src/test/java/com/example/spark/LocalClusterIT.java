package com.example.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.Nereid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
  private static final Pattern SAID = Pattern.compile("nereid (opened|closed) by process (\\d+)(.*)");

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
  void allWaysOfScoringAgreeAndEachExecutorHasOneRuntime() throws IOException {
    Path models = Cluster.archive(EXAMPLES.resolve("models"), directory.resolve("models.zip"));
    String application;
    List<Path> jars;
    try (Stream<Path> files = Files.list(Path.of("target", "jars"))) {
      jars = files.map(Path::toAbsolutePath).toList();
    }
    long count = (long) images.size() * TIMES;
    try (SparkSession spark = Cluster.open("local-cluster[2,1,1024]", jars, models)) {
      application = spark.sparkContext().applicationId();
      Path plain = directory.resolve("plain");
      Images.write(spark, images, TIMES, 4, false, plain);
      check(Images.load(spark, plain).mapPartitions(new ScoreRows(), Encoders.row(Cluster.SCORED))
          .collectAsList());
      checkColumns(spark, plain, count, 0);

      Path dictionary = directory.resolve("dictionary");
      Images.write(spark, images, TIMES, 4, true, dictionary);
      checkColumns(spark, dictionary, 0, count);
    }
    checkExecutors(Path.of(System.getenv("SPARK_HOME"), "work", application));
  }

  /** In memory that Spark's reader filled, nothing is copied; entries of a dictionary have to be. */
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

  /** Two processes, neither of them this one; each opened one runtime and closed it with nothing left. */
  private static void checkExecutors(Path work) throws IOException {
    Map<String, String> closed = new HashMap<>();
    Set<String> opened = new HashSet<>();
    try (Stream<Path> logs = Files.walk(work)) {
      for (Path log : logs.filter(path -> path.endsWith("stderr")).toList()) {
        Matcher said = SAID.matcher(Files.readString(log));
        while (said.find()) {
          if (said.group(1).equals("opened")) {
            assertTrue(opened.add(said.group(2)), "process " + said.group(2) + " opened two");
          } else {
            assertEquals(null, closed.put(said.group(2), said.group(3)));
          }
        }
      }
    }
    assertEquals(2, opened.size(), opened.toString());
    assertEquals(opened, closed.keySet());
    assertEquals(Set.of(", buffers in use: 0"), Set.copyOf(closed.values()));
    assertNotEquals(true, opened.contains(Long.toString(ProcessHandle.current().pid())));
  }
}
