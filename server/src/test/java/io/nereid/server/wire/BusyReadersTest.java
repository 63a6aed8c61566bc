package io.nereid.server.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class BusyReadersTest {

  private final BusyReaders readers = new BusyReaders("nrd-test-reader");

  /** Connections that were busy and then hear nothing would keep all others from a thread. */
  @Test
  void silentReadersMakePlaceForOthers() throws Exception {
    CountDownLatch heard = new CountDownLatch(1);
    List<Thread> silent = new ArrayList<>();
    for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
      silent.add(occupy(heard));
    }
    List<String> names = new ArrayList<>();
    while (!readers.run(new ReadingPace(), () -> names.add(Thread.currentThread().getName()))) {
      Thread.sleep(10); // until they have been silent for long enough
    }
    heard.countDown();
    for (Thread reader : silent) {
      reader.join();
    }
    assertEquals(List.of("nrd-test-reader"), names);
  }

  /** More than there are places, at once: none of them has rested. */
  @Test
  void readersThatEndGiveBackWhatTheyHad() {
    for (int i = 0; i < 3 * Runtime.getRuntime().availableProcessors(); i++) {
      assertTrue(readers.run(new ReadingPace(), () -> {}), "a place was not given back");
    }
  }

  @Test
  void whatTheWorkThrowsIsThrownToTheConnection() {
    CompletionException thrown =
        assertThrows(
            CompletionException.class,
            () ->
                readers.run(
                    new ReadingPace(),
                    () -> {
                      throw new IllegalStateException("broken");
                    }));
    assertEquals("broken", thrown.getCause().getMessage());
    assertTrue(readers.run(new ReadingPace(), () -> {}), "the place was not given back");
  }

  @Test
  void paceThatReadsIsAtNoRest() {
    ReadingPace pace = new ReadingPace();
    assertFalse(pace.isResting(System.nanoTime() - 1));
    assertTrue(pace.isResting(System.nanoTime() + 60_000_000_000L));
  }

  /** A connection that reads nothing from now on. */
  private Thread occupy(CountDownLatch heard) throws InterruptedException {
    CountDownLatch entered = new CountDownLatch(1);
    ReadingPace pace = new ReadingPace();
    Thread connection =
        Thread.ofVirtual()
            .start(() -> {
              while (!readers.run(
                  pace,
                  () -> {
                    entered.countDown();
                    awaitQuietly(heard);
                  })) {
                Thread.onSpinWait();
              }
            });
    entered.await();
    return connection;
  }

  private static void awaitQuietly(CountDownLatch heard) {
    try {
      heard.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
