// Reads a text file line by line, keeps up to 10,000 lines in a list and
// clears it: blocking, or awaiting every line through a small or large buffer.

using System;
using System.Collections.Generic;
using System.IO;
using System.Threading.Tasks;

static class ReadLines
{
    const int MaxKept = 10000;

    static int Main(string[] arguments)
    {
        int buffer = arguments[0] == "async-10MB" ? 10000000 : 1024;
        using (var file = new FileStream(arguments[1], FileMode.Open,
                                         FileAccess.Read, FileShare.Read,
                                         buffer,
                                         arguments[0] != "blocking"))
        using (var reader = new StreamReader(file, System.Text.Encoding.UTF8,
                                             false, buffer))
        {
            long lines = arguments[0] == "blocking"
                ? Block(reader) : Await(reader).GetAwaiter().GetResult();
            Console.WriteLine(lines);
        }
        return 0;
    }

    static long Block(StreamReader reader)
    {
        var kept = new List<string>();
        long lines = 0;
        for (string line; (line = reader.ReadLine()) != null; ++lines)
        {
            Keep(kept, line);
        }
        return lines;
    }

    static async Task<long> Await(StreamReader reader)
    {
        var kept = new List<string>();
        long lines = 0;
        for (string line;
             (line = await reader.ReadLineAsync().ConfigureAwait(false)) != null;
             ++lines)
        {
            Keep(kept, line);
        }
        return lines;
    }

    static void Keep(List<string> kept, string line)
    {
        kept.Add(line);
        if (kept.Count == MaxKept) kept.Clear();
    }
}
