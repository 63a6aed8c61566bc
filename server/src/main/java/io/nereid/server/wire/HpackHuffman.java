package io.nereid.server.wire;

/**
 * The code by which HPACK packs texts (RFC 7541, appendix B). It is canonical: codes of one length
 * follow each other in the order of their bytes, and longer ones follow shorter ones. So their
 * lengths say all. Most have at most eight bits, and are looked up at once.
 */
final class HpackHuffman {

  private static final int SHORTEST_BITS = 5;
  private static final int LONGEST_BITS = 30;
  private static final int QUICK_BITS = 8;

  /** Behind all bytes: the mark of an end, whose beginning fills up the last byte of a text. */
  private static final int END = 256;

  /** For each byte, and for the end, how many bits its code has: 'A' are 5, 'Z' are 30. */
  private static final String LENGTHS =
      "ISXXXXXXXTZXXZXX"
          + "XXXXXXZXXXXXXXXX"
          + "BFFHIBDGFFDGDBBB"
          + "AAABBBBBBBCDKBHF"
          + "IBCCCCCCCCCCCCCC"
          + "CCCCCCCCDCDIOIJB"
          + "KABABABBBACCBBBA"
          + "BCBAABCCCCCKGJIX"
          + "PRPPRRRSRSSSSSTS"
          + "TTRSTSSSSQRSRSST"
          + "RQPRRSSQSRRTQRSS"
          + "QQRQSRSSPRRRSRRS"
          + "VVPORSRUVVVWWVTU"
          + "OQVWWVWTQQVVXWWW"
          + "PTPQRQQSRRUUTTVS"
          + "VWVVWWWWWXWWWWWV"
          + "Z";

  private static final int[] FIRST_CODE = new int[LONGEST_BITS + 2]; // of each length
  private static final int[] FIRST_PLACE = new int[LONGEST_BITS + 2]; // of that among the symbols
  private static final short[] SYMBOLS = new short[END + 1]; // in the order of their codes

  /** Has the symbol for the next eight bits, and in the lower four its length; 0: it is longer. */
  private static final short[] QUICK = new short[1 << QUICK_BITS];

  static {
    int code = 0;
    int place = 0;
    for (int length = SHORTEST_BITS; length <= LONGEST_BITS; length++) {
      FIRST_CODE[length] = code;
      FIRST_PLACE[length] = place;
      for (int symbol = 0; symbol <= END; symbol++) {
        if (LENGTHS.charAt(symbol) - 'A' + SHORTEST_BITS == length) {
          SYMBOLS[place++] = (short) symbol;
          for (int i = 0; length <= QUICK_BITS && i < 1 << QUICK_BITS - length; i++) {
            QUICK[(code << QUICK_BITS - length) + i] = (short) (symbol << 4 | length);
          }
          code++;
        }
      }
      code <<= 1;
    }
    FIRST_PLACE[LONGEST_BITS + 1] = place;
  }

  private HpackHuffman() {}

  /** The most bytes that so many packed ones can mean. */
  static int mostBytes(int packed) {
    return packed * 8 / SHORTEST_BITS;
  }

  /** Unpacks a text to where there is room for it; its length, or -1 where it is none. */
  static int unpack(byte[] from, int start, int end, byte[] to) {
    int position = start;
    int count = 0;
    long bits = 0; // the lower ones are yet to be read
    int left = 0; // that many
    while (true) {
      while (left < LONGEST_BITS && position < end) {
        bits = bits << 8 | from[position++] & 0xff;
        left += 8;
      }
      if (left < QUICK_BITS && isFilling(bits, left)) {
        return count;
      }
      int next = (int) (left < QUICK_BITS ? bits << QUICK_BITS - left : bits >>> left - QUICK_BITS);
      int symbol = QUICK[next & 0xff] >> 4;
      int length = QUICK[next & 0xff] & 15;
      if (length == 0) {
        length = QUICK_BITS + 1;
        while (length <= LONGEST_BITS && !isCode(bits, left, length)) {
          length++;
        }
        symbol = length <= left && length <= LONGEST_BITS ? longSymbol(bits, left, length) : END;
      }
      if (length > left || symbol == END) {
        return -1;
      }
      to[count++] = (byte) symbol;
      left -= length;
    }
  }

  private static boolean isFilling(long bits, int count) {
    long ones = (1L << count) - 1;
    return (bits & ones) == ones;
  }

  private static boolean isCode(long bits, int left, int length) {
    int codes = FIRST_PLACE[length + 1] - FIRST_PLACE[length];
    return length <= left && code(bits, left, length) - FIRST_CODE[length] < codes;
  }

  private static int longSymbol(long bits, int left, int length) {
    return SYMBOLS[FIRST_PLACE[length] + code(bits, left, length) - FIRST_CODE[length]];
  }

  private static int code(long bits, int left, int length) {
    return (int) (bits >>> left - length) & (1 << length) - 1;
  }
}
