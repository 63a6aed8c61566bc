package io.nereid.server.http;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;

/** Ways to keep a server of HTTP/2 busy with frames that carry nothing. */
public enum FrameFlood {
  RESETS(400) {
    @Override
    public void send(FrameClient client, int index, String path, String... fields)
        throws IOException {
      int stream = stream(index);
      client.head(stream, false, "POST", path, fields).reset(stream);
    }
  },
  EMPTY_DATA(10) {
    @Override
    public void send(FrameClient client, int index, String path, String... fields)
        throws IOException {
      if (index == 0) {
        client.head(stream(0), false, "POST", path, fields);
      }
      client.frame(FrameClient.DATA, 0, stream(0), new byte[0]);
    }
  },
  EMPTY_DATA_WITH_PADDING(10) {
    @Override
    public void send(FrameClient client, int index, String path, String... fields)
        throws IOException {
      if (index == 0) {
        client.head(stream(0), false, "POST", path, fields);
      }
      client.frame(FrameClient.DATA, FrameClient.PADDED, stream(0), new byte[] {3, 0, 0, 0});
    }
  },
  ZERO_WINDOW_UPDATES(400) {
    @Override
    public void send(FrameClient client, int index, String path, String... fields)
        throws IOException {
      int stream = stream(index);
      client.head(stream, false, "POST", path, fields).grant(stream, 0);
    }
  },
  PINGS(400) {
    @Override
    public void send(FrameClient client, int index, String path, String... fields)
        throws IOException {
      client.frame(FrameClient.PING, 0, 0, ByteBuffer.allocate(8).putLong(index).array());
    }
  },
  PING_ACKS(400) {
    @Override
    public void send(FrameClient client, int index, String path, String... fields)
        throws IOException {
      client.frame(FrameClient.PING, FrameClient.ACK, 0, new byte[8]);
    }
  },
  SETTINGS(400) {
    @Override
    public void send(FrameClient client, int index, String path, String... fields)
        throws IOException {
      client.frame(FrameClient.SETTINGS, 0, 0, new byte[0]);
    }
  },
  SETTINGS_ACKS(400) {
    @Override
    public void send(FrameClient client, int index, String path, String... fields)
        throws IOException {
      client.frame(FrameClient.SETTINGS, FrameClient.ACK, 0, new byte[0]);
    }
  },
  PRIORITIES(400) {
    @Override
    public void send(FrameClient client, int index, String path, String... fields)
        throws IOException {
      client.frame(FrameClient.PRIORITY, 0, stream(index), new byte[5]);
    }
  },
  UNKNOWN_FRAMES(400) {
    @Override
    public void send(FrameClient client, int index, String path, String... fields)
        throws IOException {
      client.frame(0x4E, 0, 0, new byte[3]);
    }
  };

  private final int most;

  FrameFlood(int most) {
    this.most = most;
  }

  /** How many of its frames a server puts up with. */
  public int most() {
    return most;
  }

  private static int stream(int index) {
    return 2 * index + 1;
  }

  /**
   * Sends one more of its frames, and what the frame needs to be one that can come.
   *
   * @param path what may be posted to
   * @param fields of the head, names and values in turns
   */
  public abstract void send(FrameClient client, int index, String path, String... fields)
      throws IOException;

  /**
   * Sends the frames from one index to another, or fewer: the server may have ended the connection
   * before the last of them.
   */
  public void sendAll(FrameClient client, int first, int last, String path, String... fields)
      throws IOException {
    try {
      for (int i = first; i <= last; i++) {
        send(client, i, path, fields);
      }
    } catch (SocketException e) { // the connection has gone; what the server said stays readable
    }
  }
}
