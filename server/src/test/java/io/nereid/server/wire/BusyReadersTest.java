package io.nereid.server.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BusyReadersTest {

  private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
  private static final int FEW = 4 * PROCESSORS; // that read large pieces
  private static final int MOST_THREADS = 12 * PROCESSORS;
  private static final long BUSY_MS = 250;
  private static final long REST_MS = 1000;

  private final BusyReaders readers = new BusyReaders("nrd-test-reader");
  private long nowMs;

  private ReadingPace pace() {
    return new ReadingPace(readers, () -> nowMs * 1_000_000);
  }

  private List<ReadingPace> paces(int count) {
    return IntStream.range(0, count).mapToObj(i -> pace()).toList();
  }

  /** Has all of them read large pieces until it is looked how long that took. */
  private void read(List<ReadingPace> paces, long timeMs) {
    read(paces, timeMs, 64 << 10);
  }

  private void read(List<ReadingPace> paces, long timeMs, int bytes) {
    nowMs += timeMs;
    for (ReadingPace pace : paces) {
      for (int i = 0; i < 64; i++) {
        pace.read(bytes);
      }
    }
  }

  private static long wanted(List<ReadingPace> paces) {
    return paces.stream().filter(ReadingPace::wantsThread).count();
  }

  @Test
  void connectionsThatReadOftenWantThreads() {
    List<ReadingPace> one = paces(1);
    read(one, BUSY_MS + 1);
    assertEquals(0, wanted(one));
    read(one, BUSY_MS);
    assertEquals(1, wanted(one));
    read(one, REST_MS);
    assertEquals(1, wanted(one), "it reads a little less often");
    read(one, REST_MS + 1);
    assertEquals(0, wanted(one));
  }

  /** With too many no connection has one, so that none waits behind those that have. */
  @Test
  void allThatAreBusyWantThreadsOrNone() {
    List<ReadingPace> few = paces(FEW);
    read(few, BUSY_MS);
    assertEquals(FEW, wanted(few));
    List<ReadingPace> others = paces(3);
    read(others, BUSY_MS);
    read(few, BUSY_MS);
    assertEquals(0, wanted(others) + wanted(few));

    others.forEach(ReadingPace::restart);
    read(few, BUSY_MS);
    assertEquals(FEW, wanted(few));
  }

  /** Whoever reads small pieces is at work in between, and wants a processor for it. */
  @Test
  void fewWantThreadsThatReadSmallPieces() {
    List<ReadingPace> small = paces(PROCESSORS);
    read(small, BUSY_MS, 1000);
    assertEquals(PROCESSORS, wanted(small));
    List<ReadingPace> large = paces(1);
    read(large, BUSY_MS);
    read(small, BUSY_MS, 1000);
    assertEquals(0, wanted(small) + wanted(large));
    read(small, BUSY_MS, 64 << 10); // as if four times as many were sent at once
    assertEquals(PROCESSORS, wanted(small));
  }

  /** One read of much is as good as several. */
  @Test
  void aLargePieceIsSeveral() {
    List<ReadingPace> one = paces(1);
    nowMs += BUSY_MS;
    one.getFirst().read(64 * (64 << 10) - 1);
    assertEquals(0, wanted(one));
    one.getFirst().read(1);
    assertEquals(1, wanted(one));
  }

  /** Connections that were busy and then hear nothing do not count. */
  @Test
  void silentConnectionsKeepNoneFromAThread() {
    List<ReadingPace> few = paces(FEW);
    read(few, BUSY_MS);
    List<ReadingPace> others = paces(FEW);
    read(others, BUSY_MS);
    assertEquals(0, wanted(others));
    read(others, REST_MS + 1 - BUSY_MS);
    assertEquals(FEW, wanted(others));
  }

  @Test
  void workIsDoneByAThreadOfThatName() {
    List<String> names = new ArrayList<>();
    readers.run(pace(), () -> names.add(Thread.currentThread().getName()));
    assertEquals(List.of("nrd-test-reader"), names);
  }

  @Test
  void whatTheWorkThrowsIsThrownToTheConnection() {
    for (int i = 0; i <= MOST_THREADS; i++) { // each gives its thread back
      CompletionException thrown =
          assertThrows(
              CompletionException.class,
              () ->
                  readers.run(
                      pace(),
                      () -> {
                        throw new IllegalStateException("broken");
                      }));
      assertEquals("broken", thrown.getCause().getMessage());
    }
  }

  @Test
  void thereAreNotMoreThreadsThanThat() throws Exception {
    CountDownLatch begun = new CountDownLatch(MOST_THREADS);
    CountDownLatch heard = new CountDownLatch(1);
    List<Thread> silent = new ArrayList<>();
    for (int i = 0; i < MOST_THREADS; i++) {
      silent.add(
          Thread.ofVirtual()
              .start(() ->
                  readers.run(
                      pace(),
                      () -> {
                        begun.countDown();
                        awaitQuietly(heard);
                      })));
    }
    begun.await();
    List<ReadingPace> another = paces(1);
    read(another, 0);
    assertEquals(1, wanted(another));
    readers.run(another.getFirst(), () -> fail("there is one more thread"));
    assertEquals(0, wanted(another), "it still wants one");
    heard.countDown();
    for (Thread connection : silent) {
      connection.join();
    }
    List<String> names = new ArrayList<>();
    readers.run(another.getFirst(), () -> names.add(Thread.currentThread().getName()));
    assertEquals(1, names.size(), "their threads were not given back");
  }

  private static void awaitQuietly(CountDownLatch heard) {
    try {
      heard.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
