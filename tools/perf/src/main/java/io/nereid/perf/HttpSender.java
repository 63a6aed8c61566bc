package io.nereid.perf;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;

/**
 * Sends one request after another on a connection of HTTP/1.1. The pacer or the loop sends, the
 * loop receives; a separate thread replaces a connection that ended. The lock is needed because a
 * server may answer before it has read the request.
 */
final class HttpSender extends Sender {

  private static final long RECONNECT_PAUSE_NS = 50_000_000;
  private static final byte[] NO_BODY = {};
  private static final ByteBuffer NOTHING = ByteBuffer.allocateDirect(0);

  private final HttpSenders senders;
  private final HttpSenders.Loop loop;
  private final SendingRun run;
  private final HttpReplyParser reply;
  private final Object lock = new Object();

  @GuardedBy("lock")
  private Wire wire;

  @GuardedBy("lock")
  private SelectionKey key; // null until the loop has registered the connection

  @GuardedBy("lock")
  private boolean usable; // connected

  @GuardedBy("lock")
  private boolean awaiting; // a request is under way

  @GuardedBy("lock")
  private boolean closed;

  @GuardedBy("lock")
  private Encoded loaded;

  @GuardedBy("lock")
  private ByteBuffer head = ByteBuffer.allocateDirect(1024);

  @GuardedBy("lock")
  private ByteBuffer tail = NOTHING;

  HttpSender(
      int index,
      HttpSenders senders,
      HttpSenders.Loop loop,
      SendingRun run,
      Requests.Position position) {
    super(index, loop.tally(), position);
    this.senders = senders;
    this.loop = loop;
    this.run = run;
    reply = new HttpReplyParser(senders.checksReplies());
  }

  /** Blocks. */
  void connect() throws IOException {
    Wire connected = senders.connect();
    connected.channel().configureBlocking(false);
    synchronized (lock) {
      if (closed) {
        connected.close();
        return;
      }
      wire = connected;
      key = null;
      usable = true;
      reply.reset();
    }
    loop.attach(this);
  }

  /** Called on the loop's thread: registers the connection. */
  void register(Selector selector) throws IOException {
    synchronized (lock) {
      if (usable) {
        boolean unsent = awaiting && (head.hasRemaining() || tail.hasRemaining());
        int operations = SelectionKey.OP_READ | (unsent ? SelectionKey.OP_WRITE : 0);
        key = wire.channel().register(selector, operations, this);
      }
    }
  }

  @Override
  void load(Encoded message, byte[] headBytes) {
    synchronized (lock) {
      if (loaded != message || message.marks() != null) {
        if (head.capacity() < headBytes.length) {
          head = ByteBuffer.allocateDirect(headBytes.length);
        }
        head.clear().put(headBytes).flip();
        tail = message.tail().length == 0 ? NOTHING : senders.tail(message).duplicate();
        loaded = message;
      }
      head.rewind();
      tail.rewind();
    }
  }

  @Override
  void send() {
    IOException failure = null;
    synchronized (lock) {
      awaiting = true;
      reply.reset();
      if (!usable) {
        return; // sent when the connection is back
      }
      try {
        flush();
      } catch (IOException e) {
        failure = e;
      }
    }
    if (failure != null) {
      broken(failure);
    }
  }

  @GuardedBy("lock")
  private void flush() throws IOException {
    boolean all = wire.write(head, tail);
    if (key == null) {
      return; // the loop sends it when it registers the connection
    }
    if (all) {
      if (loop.isCurrent() && (key.interestOps() & SelectionKey.OP_WRITE) != 0) {
        key.interestOps(SelectionKey.OP_READ);
      }
    } else {
      key.interestOpsOr(SelectionKey.OP_WRITE);
      if (!loop.isCurrent()) {
        loop.wakeUp();
      }
    }
  }

  /** Called on the loop's thread when the connection is ready for these operations. */
  void serve(int operations) {
    boolean answered;
    try {
      synchronized (lock) {
        if (!usable) {
          return;
        }
        if ((operations & SelectionKey.OP_WRITE) != 0) {
          flush();
        }
        answered = (operations & SelectionKey.OP_READ) != 0 && receive();
      }
    } catch (IOException e) {
      broken(e);
      return;
    }
    if (answered) {
      finish();
    }
  }

  /** Reads; true: the reply is complete. */
  @GuardedBy("lock")
  private boolean receive() throws IOException {
    ByteBuffer in = loop.in();
    int count;
    do {
      in.clear();
      count = wire.read(in);
      if (count < 0) {
        if (awaiting && reply.end()) {
          return true;
        }
        throw new IOException("the server closed the connection");
      }
      in.flip();
      if (count > 0 && !awaiting) {
        throw new IOException("the server sent something that nobody asked for");
      }
      if (count > 0 && reply.take(in)) {
        if (in.hasRemaining()) {
          throw new IOException("the server sent more than one reply");
        }
        return true;
      }
    } while (count == in.capacity() || count > 0 && wire.hasBuffered());
    return false;
  }

  private void finish() {
    HttpReplyParser.Head last = reply.head();
    byte[] body = last.status() == 200 && !senders.checksReplies() ? NO_BODY : reply.body();
    boolean reusable;
    synchronized (lock) {
      awaiting = false;
      reusable = last.keepAlive() && !reply.end() && !head.hasRemaining() && !tail.hasRemaining();
      if (!reusable) {
        drop();
      }
    }
    long nowNs = System.nanoTime();
    String wrong = last.status() == 200 ? senders.fault(last, body) : null;
    if (last.status() == 200 && wrong == null && reusable) {
      run.succeeded(this, nowNs);
      return;
    }
    if (last.status() != 200) {
      String text = ErrorText.of(new String(body, StandardCharsets.UTF_8));
      run.failed(this, "HTTP " + last.status(), text);
    } else if (wrong != null) {
      run.failed(this, "wrong reply", wrong);
    } else {
      run.succeeded(this, nowNs); // the next request waits for the new connection
    }
    if (!reusable) {
      reconnect(last.status() != 200 || wrong != null);
    } else {
      run.ready(this, System.nanoTime());
    }
  }

  private void broken(IOException cause) {
    boolean failed;
    synchronized (lock) {
      if (closed || !usable) {
        return;
      }
      failed = awaiting;
      awaiting = false;
      drop();
    }
    if (failed) {
      run.failed(this, "connection", cause.getMessage());
    }
    reconnect(failed);
  }

  @GuardedBy("lock")
  private void drop() {
    usable = false;
    wire.close();
  }

  /** Connects again; {@code free}: the sender has no next request yet. */
  private void reconnect(boolean free) {
    OPENERS.execute(() -> {
      while (!run.isStopping()) {
        try {
          connect();
          break;
        } catch (IOException e) {
          run.failedToConnect(this, e);
          LockSupport.parkNanos(RECONNECT_PAUSE_NS);
        }
      }
      if (free) {
        run.ready(this, System.nanoTime());
      } else {
        sendWaiting();
      }
    });
  }

  /** Sends the request that waited for a connection. */
  private void sendWaiting() {
    IOException failure = null;
    synchronized (lock) {
      if (!awaiting) {
        return;
      }
      if (usable) {
        try {
          flush();
          return;
        } catch (IOException e) {
          failure = e;
        }
      } else {
        awaiting = false;
      }
    }
    if (failure != null) {
      broken(failure);
    } else {
      run.failed(this, "connection", "the run ended before there was a connection again");
    }
  }

  @Override
  void close() {
    synchronized (lock) {
      closed = true;
      if (usable) {
        drop();
      }
    }
  }
}
